import { describeChange } from '../recording/describe-change.ts'
import type { Recording } from '../recording/recording.ts'
import type { ChangeView } from '../wire/change-view.ts'
import type { Topic, Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

type ChangesTopic = Extract<Topic, { type: 'changes' | 'history' }>

// The maximum number of changes of one object that the page shows.
const maxHistory = 200

/** The last changes of the recording, or those of one object, newest first. */
export class ChangesFeed implements Feed {
  readonly #topic: ChangesTopic
  readonly #recording: Recording
  readonly #listening: Disposable | undefined
  #isDirty = true
  #newest: number | undefined

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

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const changes = changesOf(this.#topic, this.#recording)
    const newest = changes[0]?.number
    // Most changes concern other objects than the one of a history.
    if (newest !== undefined && newest === this.#newest) return undefined
    this.#newest = newest
    return { type: this.#topic.type, changes }
  }

  [Symbol.dispose](): void {
    this.#listening?.[Symbol.dispose]()
  }
}

function changesOf(topic: ChangesTopic, recording: Recording): ChangeView[] {
  const { at = recording.last } = topic
  return topic.type === 'changes' ? lastChanges(recording, at, topic.limit) : historyOf(recording, at, topic.object)
}

function lastChanges(recording: Recording, at: number, limit: number): ChangeView[] {
  const { changes, first } = recording
  const end = Math.min(changes.length, Math.max(0, at - first))
  return changes
    .slice(Math.max(0, end - limit), end)
    .reverse()
    .flatMap(({ object, number }) => {
      const version = object.versions.find((one) => one.number === number)
      return version === undefined ? [] : [describeChange(recording, object, version)]
    })
}

/** An object that was created again under its name has the changes of both. */
function historyOf(
  recording: Recording,
  at: number,
  { resource, namespace, name }: Extract<ChangesTopic, { type: 'history' }>['object'],
): ChangeView[] {
  return [...recording.objectsOf(resource)]
    .filter((object) => object.name === name && object.namespace === namespace)
    .flatMap((object) => object.versions.map((version) => ({ object, version })))
    .filter(({ version }) => version.number <= at)
    .sort((a, b) => b.version.number - a.version.number)
    .slice(0, maxHistory)
    .map(({ object, version }) => describeChange(recording, object, version))
}
