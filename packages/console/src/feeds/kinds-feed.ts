import type { Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

/** The kinds of the cluster. */
export class KindsFeed implements Feed {
  readonly #context: FeedContext
  readonly #listening: Disposable
  #isDirty = true

  constructor(context: FeedContext) {
    this.#context = context
    this.#listening = context.cluster.kinds.listen(() => {
      this.#isDirty = true
      context.changed()
    })
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const { kinds, problem } = this.#context.cluster.kinds
    return { type: 'kinds', kinds, problem }
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
  }
}
