import type { Clock } from '@kubewright/base'
import { OutputBlocks } from './output-blocks.ts'

/** An output that collects bytes during a turn of the event loop and writes them at once. */
export interface Flushable {
  /** Writes what was collected. Does nothing if there is nothing to write. */
  flush(): void
  /** Used by the {@link Flusher} only: whether the output is in the queue of the next round, and in that of events. */
  isSoon: boolean
  isEvent: boolean
}

/** A round of flushes that takes longer than this many milliseconds is followed by a pause for watch events. */
const longRound = 0.5
/** The pause relative to the duration of the round, so that delivery takes at most a tenth of the time while other work waits. */
const pauseFactor = 9
/** The longest pause in milliseconds, which limits the delay of an event. */
const maxPause = 100

/**
 * Flushes outputs in rounds. An encrypted write costs the same for one event as for ten, so outputs collect what is written during a turn
 * of the event loop. Under load, watch events are also collected across turns: after a round that took long because of many watchers, the
 * next one waits for a multiple of that time, at most 100 ms. A single event after an idle time is never delayed. Responses are not delayed
 * either.
 */
export class Flusher {
  /** The memory for the bytes that outputs write. */
  readonly blocks: OutputBlocks = new OutputBlocks()
  readonly #clock: Clock
  #soon: Flushable[] = []
  #events: Flushable[] = []
  #isSoonScheduled = false
  #areEventsScheduled = false
  /** The monotonic time before which no round of events starts. */
  #notBefore = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Flushes the output when the microtasks of this turn have run. */
  flushSoon(output: Flushable): void {
    if (output.isSoon) return
    output.isSoon = true
    this.#soon.push(output)
    if (this.#isSoonScheduled) return
    this.#isSoonScheduled = true
    process.nextTick(this.#flushNow)
  }

  /** Flushes the output soon, or after the pause if the last round of events took long. */
  flushEvents(output: Flushable): void {
    if (output.isEvent || output.isSoon) return
    output.isEvent = true
    this.#events.push(output)
    if (this.#areEventsScheduled) return
    this.#areEventsScheduled = true
    const pause = this.#notBefore === 0 ? 0 : this.#notBefore - this.#clock.monotonic()
    if (pause > 0) this.#clock.setTimer(pause, this.#flushAllEvents, 'watch events')
    else process.nextTick(this.#flushAllEvents)
  }

  readonly #flushNow = (): void => {
    this.#isSoonScheduled = false
    const outputs = this.#soon
    this.#soon = []
    for (const output of outputs) {
      output.isSoon = false
      output.flush()
    }
  }

  readonly #flushAllEvents = (): void => {
    this.#areEventsScheduled = false
    const outputs = this.#events
    this.#events = []
    const begin = this.#clock.monotonic()
    for (const output of outputs) {
      output.isEvent = false
      output.flush()
    }
    const end = this.#clock.monotonic()
    const took = end - begin
    this.#notBefore = took < longRound ? 0 : end + Math.min(took * pauseFactor, maxPause)
  }
}
