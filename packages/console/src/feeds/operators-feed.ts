import { type Timer, toMillis } from '@kubewright/base'
import type { Update } from '../wire/messages.ts'
import type { OperatorView } from '../wire/operator-view.ts'
import type { Feed, FeedContext } from './feed.ts'

const period = toMillis('500ms')

/**
 * The operators beside the console. Reads their reports twice per second while the page shows them, because the debug
 * address of an operator has no stream; sends only changes.
 */
export class OperatorsFeed implements Feed {
  readonly #context: FeedContext
  readonly #stop = new AbortController()
  #timer: Timer | undefined
  #operators: readonly OperatorView[] | undefined
  #text = ''
  #isDirty = false

  constructor(context: FeedContext) {
    this.#context = context
    void this.#read()
  }

  take(): Update | undefined {
    if (!this.#isDirty || this.#operators === undefined) return undefined
    this.#isDirty = false
    return { type: 'operators', operators: this.#operators }
  }

  async #read(): Promise<void> {
    const { readOperators, clock, changed } = this.#context
    const views = await readOperators(this.#stop.signal)
    if (this.#stop.signal.aborted) return
    this.#context.levers?.observe(views)
    const text = JSON.stringify(views)
    if (text !== this.#text) {
      this.#text = text
      this.#operators = views
      this.#isDirty = true
      changed()
    }
    this.#timer = clock.setTimer(period, () => void this.#read(), 'operators of the console')
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    this.#timer?.cancel()
  }
}
