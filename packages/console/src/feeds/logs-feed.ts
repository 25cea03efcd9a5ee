import { CaughtError } from '@kubewright/base'
import { problemText } from '../cluster/problem-text.ts'
import { objectPath } from '../cluster/resource-url.ts'
import type { FeedState, Topic, Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

// Older lines than these are not read at first, and are dropped while the page is slow.
const maxLines = 1000
// A line beyond this length is cut into several.
const maxLine = 16 * 1024

/** The log of a container, followed until it ends. */
export class LogsFeed implements Feed {
  readonly #stop = new AbortController()
  readonly #changed: () => void
  readonly #lines: string[] = []
  #state: FeedState = 'loading'
  #problem: string | undefined
  #isFirst = true
  #isDirty = true

  constructor(topic: Extract<Topic, { type: 'logs' }>, context: FeedContext) {
    this.#changed = context.changed
    void this.#follow(topic, context)
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const reset = this.#isFirst
    this.#isFirst = false
    return { type: 'logs', reset, lines: this.#lines.splice(0), state: this.#state, problem: this.#problem }
  }

  /** Never rejects: a failure becomes the problem. */
  async #follow(
    { object, container, previous }: Extract<Topic, { type: 'logs' }>,
    { rest }: FeedContext,
  ): Promise<void> {
    const { signal } = this.#stop
    try {
      if (rest === undefined)
        throw new CaughtError('Logs are not part of a recording: go back to the present of a cluster')
      const query = new URLSearchParams({ container, tailLines: String(maxLines), follow: String(!previous) })
      if (previous) query.set('previous', 'true')
      const body = await rest.stream({ method: 'GET', path: objectPath(object, 'log'), query, signal })
      this.#state = 'live'
      this.#touch()
      const decoder = new TextDecoder()
      let partial = ''
      for await (const chunk of body) {
        const lines = (partial + decoder.decode(chunk, { stream: true })).split('\n')
        partial = lines.pop() ?? ''
        if (partial.length > maxLine) {
          lines.push(partial)
          partial = ''
        }
        this.#add(lines)
      }
      if (partial !== '') this.#add([partial])
    } catch (error) {
      if (signal.aborted) return
      this.#problem = problemText(error)
      this.#state = 'retrying'
      this.#touch()
    }
  }

  #add(lines: readonly string[]): void {
    if (lines.length === 0) return
    for (const line of lines) this.#lines.push(line)
    if (this.#lines.length > maxLines) this.#lines.splice(0, this.#lines.length - maxLines)
    this.#touch()
  }

  #touch(): void {
    this.#isDirty = true
    this.#changed()
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }
}
