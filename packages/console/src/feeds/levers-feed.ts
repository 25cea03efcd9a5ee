import { type Timer, toMillis } from '@kubewright/base'
import type { Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'
import type { Levers } from './levers.ts'

const period = toMillis('2s')

/**
 * What the levers have caused. Reads the operators once, and then only while a controller is paused: another page may resume
 * it, and a restarted operator is not paused any more.
 */
export class LeversFeed implements Feed {
  readonly #context: FeedContext
  readonly #levers: Levers | undefined
  readonly #stop = new AbortController()
  readonly #listening: Disposable | undefined
  #timer: Timer | undefined
  #isDirty = true

  constructor(context: FeedContext) {
    this.#context = context
    this.#levers = context.levers
    this.#listening = this.#levers?.listen(() => {
      this.#isDirty = true
      context.changed()
      this.#schedule()
    })
    if (this.#levers?.kinds.controllers) void this.#read()
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    return { type: 'levers', levers: this.#levers?.view() ?? { faults: [], paused: [] } }
  }

  async #read(): Promise<void> {
    const operators = await this.#context.readOperators(this.#stop.signal)
    if (this.#stop.signal.aborted) return
    this.#timer = undefined
    this.#levers?.observe(operators)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#stop.signal.aborted || this.#levers?.view().paused.length === 0) return
    this.#timer = this.#context.clock.setTimer(period, () => void this.#read(), 'levers of the console')
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    this.#timer?.cancel()
    this.#listening?.[Symbol.dispose]()
  }
}
