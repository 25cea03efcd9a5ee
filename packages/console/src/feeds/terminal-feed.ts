import type { Topic, Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

/** The output of a command in a container. A page that reconnects gets the output from the start, as far as it is kept. */
export class TerminalFeed implements Feed {
  readonly #terminal: ReturnType<NonNullable<FeedContext['terminals']>['find']>
  readonly #listening: Disposable | undefined
  #isFirst = true
  #isDirty = true
  #sent = 0

  constructor({ terminal: id }: Extract<Topic, { type: 'terminal' }>, { terminals, changed }: FeedContext) {
    this.#terminal = terminals?.find(id)
    this.#listening = this.#terminal?.listen(() => {
      this.#isDirty = true
      changed()
    })
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const reset = this.#isFirst
    this.#isFirst = false
    if (this.#terminal === undefined)
      return { type: 'terminal', reset, text: '', end: { problem: 'The command has ended: start it again' } }
    const { output, length, end } = this.#terminal
    const unsent = Math.min(output.length, length - this.#sent)
    this.#sent = length
    return { type: 'terminal', reset, text: unsent === 0 ? '' : output.slice(-unsent), end }
  }

  [Symbol.dispose](): void {
    this.#listening?.[Symbol.dispose]()
  }
}
