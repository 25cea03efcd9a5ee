import { type Clock, Deferred, type Timer } from '@kubewright/base'
import type { Queue, Taken } from '../queue/queue.ts'

// How long keys are worked on without letting timers and sockets have a turn.
const maxSlice = 20
// A pause after which a new slice begins: in the meantime they had one.
const minPause = 2

/** What a {@link WorkerPump} is made of. */
export interface WorkerPumpOptions {
  readonly clock: Clock
  readonly queue: Queue
  /** How many workers there are. */
  readonly concurrency: number
  /** Gives a key to a worker, at a monotonic time. The worker ends, at once or later, with `release`. */
  readonly begin: (taken: Taken, now: number) => void
}

/**
 * Gives keys from a queue to workers as long as there are any and workers are free. Workers that need no promise are called one
 * after the other without a detour, and yet cannot keep the process from anything else for long.
 */
export class WorkerPump {
  readonly #options: WorkerPumpOptions
  #stopped: Deferred | undefined
  #taking = false
  #active = 0
  #pumping = false
  #waking = false
  #sliceStart = 0
  #lastTurn = Number.NEGATIVE_INFINITY
  #pause: Timer | undefined

  constructor(options: WorkerPumpOptions) {
    this.#options = options
    options.queue.onReady(() => this.#wake())
  }

  /** The number of workers that have a key. */
  get active(): number {
    return this.#active
  }

  /** Takes keys until it is stopped; resolves when all workers have ended then. */
  run(): Promise<void> {
    this.#taking = true
    this.#stopped = new Deferred()
    this.#wake()
    return this.#stopped.promise
  }

  /** Takes no more keys. */
  stop(): void {
    this.#taking = false
    this.#pause?.cancel()
    this.#pause = undefined
    if (this.#active === 0) this.#stopped?.resolve()
  }

  /** Says that a worker has ended. */
  release(): void {
    this.#active--
    if (!this.#taking) this.stop()
    else if (!this.#pumping) this.#pump()
  }

  // Not at once: whoever adds keys should be able to add all of them first.
  #wake(): void {
    if (this.#waking || this.#pumping || !this.#taking) return
    this.#waking = true
    void Promise.resolve().then(() => {
      this.#waking = false
      this.#pump()
    })
  }

  #pump(): void {
    if (this.#pumping || this.#pause !== undefined) return
    const { queue, concurrency, begin } = this.#options
    this.#pumping = true
    try {
      while (this.#taking && this.#active < concurrency && !this.#needsPause()) {
        const taken = queue.tryGet()
        if (taken === undefined) break
        this.#active++
        begin(taken, this.#lastTurn)
      }
    } finally {
      this.#pumping = false
    }
  }

  // A reconciler that answers from memory would otherwise keep the process from renewing its lease or answering probes.
  #needsPause(): boolean {
    const { clock, queue } = this.#options
    const now = clock.monotonic()
    if (now - this.#lastTurn > minPause) this.#sliceStart = now
    this.#lastTurn = now
    if (now - this.#sliceStart <= maxSlice || queue.length === 0) return false
    const resume = (): void => {
      this.#pause = undefined
      this.#sliceStart = clock.monotonic()
      this.#lastTurn = this.#sliceStart
      this.#pump()
    }
    this.#pause = clock.setTimer(0, resume, `pause of ${queue.name}`)
    return true
  }
}
