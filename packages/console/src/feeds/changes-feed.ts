import { describeChange } from '../recording/describe-change.ts'
import type { Change, Recording } from '../recording/recording.ts'
import type { ChangesUpdate, Topic } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

type ChangesTopic = Extract<Topic, { type: 'changes' | 'history' }>

const maxHistory = 200

/** The last changes of the recording, or those of one object, newest first. */
export class ChangesFeed implements Feed {
  readonly #topic: ChangesTopic
  readonly #recording: Recording
  readonly #listening: Disposable | undefined
  #isDirty = true
  /** The newest change that was considered; undefined before the first update. */
  #seen: number | undefined

  constructor(topic: ChangesTopic, { recording, changed }: FeedContext) {
    this.#topic = topic
    this.#recording = recording
    // The changes before a moment of the past stay the same.
    if (topic.at === undefined)
      this.#listening = recording.listen(() => {
        this.#isDirty = true
        changed()
      })
  }

  take(): ChangesUpdate | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const { type } = this.#topic
    const limit = limitOf(this.#topic)
    const after = this.#seen
    const at = this.#topic.at ?? this.#recording.last
    this.#seen = at
    if (after === undefined) {
      const changes = type === 'changes' ? this.#recent(at, -1) : [...this.#recent(at, -1), ...this.#initial()]
      return { type, reset: true, changes: changes.slice(0, limit), limit }
    }
    const changes = this.#recent(at, after)
    // Most changes concern other objects than the one of a history.
    return changes.length === 0 ? undefined : { type, reset: false, changes, limit }
  }

  /** The changes of the topic up to a moment, but after another one. */
  #recent(at: number, after: number): ChangesUpdate['changes'] {
    const recording = this.#recording
    const limit = limitOf(this.#topic)
    const { changes, first } = recording
    const found: ChangesUpdate['changes'][number][] = []
    for (let index = Math.min(changes.length, at - first) - 1; index >= 0 && found.length < limit; index--) {
      const change = changes[index]
      if (change === undefined || change.number <= after) break
      if (!concerns(this.#topic, change)) continue
      const version = change.object.versions.findLast(({ number }) => number === change.number)
      if (version !== undefined) found.push(describeChange(recording, change.object, version))
    }
    return found
  }

  /** The state of the object at the oldest moment. */
  #initial(): ChangesUpdate['changes'] {
    if (this.#topic.type === 'changes') return []
    const recording = this.#recording
    const { resource, name, namespace } = this.#topic.object
    return [...recording.objectsOf(resource)]
      .filter((object) => object.name === name && object.namespace === namespace)
      .flatMap((object) => object.versions.slice(0, 1).map((version) => ({ object, version })))
      .filter(({ version }) => version.number <= recording.first)
      .map(({ object, version }) => describeChange(recording, object, version))
  }

  [Symbol.dispose](): void {
    this.#listening?.[Symbol.dispose]()
  }
}

/** The maximum number of changes that the page shows. */
function limitOf(topic: ChangesTopic): number {
  return topic.type === 'changes' ? topic.limit : maxHistory
}

/** An object that was created again under its name has the changes of both. */
function concerns(topic: ChangesTopic, { object }: Change): boolean {
  if (topic.type === 'changes') return true
  const { resource, name, namespace } = topic.object
  return (
    object.name === name &&
    object.namespace === namespace &&
    object.resource.plural === resource.plural &&
    object.resource.group === resource.group
  )
}
