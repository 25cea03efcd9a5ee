import { describeChange } from '../recording/describe-change.ts'
import type { Recording } from '../recording/recording.ts'
import type { ChangeView } from '../wire/change-view.ts'
import type { Topic, Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

// The maximum number of changes of one object that the page shows.
const maxHistory = 200

/** The last changes of the recording, or those of one object, newest first. */
export class ChangesFeed implements Feed {
  readonly #topic: Extract<Topic, { type: 'changes' | 'history' }>
  readonly #recording: Recording
  readonly #listening: Disposable | undefined
  #isDirty = true
  #sent: number | undefined

  constructor(topic: Extract<Topic, { type: 'changes' | 'history' }>, { recording, changed }: FeedContext) {
    this.#topic = topic
    this.#recording = recording
    // The changes before a moment of the past stay the same.
    this.#listening =
      topic.at === undefined
        ? recording.listen(() => {
            this.#isDirty = true
            changed()
          })
        : undefined
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const { type } = this.#topic
    if (type === 'changes') return { type, changes: this.#lastChanges() }
    const changes = this.#history()
    const [newest] = changes
    // Most changes concern other objects.
    if (this.#sent !== undefined && newest?.number === this.#sent) return undefined
    this.#sent = newest?.number
    return { type, changes }
  }

  #lastChanges(): ChangeView[] {
    const { at = Infinity, ...topic } = this.#topic
    const limit = topic.type === 'changes' ? topic.limit : 0
    const { changes, first } = this.#recording
    const end = Math.min(changes.length, Math.max(0, at - first))
    return changes
      .slice(Math.max(0, end - limit), end)
      .reverse()
      .flatMap(({ object, number }) => {
        const version = object.versions.find((one) => one.number === number)
        return version === undefined ? [] : [describeChange(this.#recording, object, version)]
      })
  }

  /** An object that was created again under its name has the changes of both. */
  #history(): ChangeView[] {
    const { at = Infinity, ...topic } = this.#topic
    if (topic.type !== 'history') return []
    const { resource, namespace, name } = topic.object
    const found = [...this.#recording.objectsOf(resource)].filter(
      (object) => object.name === name && object.namespace === namespace,
    )
    return found
      .flatMap((object) => object.versions.map((version) => ({ object, version })))
      .filter(({ version }) => version.number <= at)
      .sort((a, b) => b.version.number - a.version.number)
      .slice(0, maxHistory)
      .map(({ object, version }) => describeChange(this.#recording, object, version))
  }

  [Symbol.dispose](): void {
    this.#listening?.[Symbol.dispose]()
  }
}
