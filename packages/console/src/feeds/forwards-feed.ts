import type { Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

/** The forwarded ports. */
export class ForwardsFeed implements Feed {
  readonly #forwards: FeedContext['forwards']
  readonly #listening: Disposable | undefined
  #isDirty = true

  constructor({ forwards, changed }: FeedContext) {
    this.#forwards = forwards
    this.#listening = forwards?.listen(() => {
      this.#isDirty = true
      changed()
    })
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    return { type: 'forwards', forwards: this.#forwards?.all ?? [] }
  }

  [Symbol.dispose](): void {
    this.#listening?.[Symbol.dispose]()
  }
}
