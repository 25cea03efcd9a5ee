import { parseFieldSelector, parseSelector } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { ClusterView, FollowOptions, Kinds } from '../cluster/cluster-view.ts'
import { type Json, objectAt, textsAt } from '../cluster/json.ts'
import { problemText } from '../cluster/problem-text.ts'
import { type RecordedObject, type Recording, stateAt } from './recording.ts'

/** The cluster at one moment of a recording. Nothing in it ever changes. */
export class RecordedCluster implements ClusterView {
  readonly kinds: Kinds
  readonly #recording: Recording
  readonly #moment: number

  constructor(recording: Recording, moment: number) {
    this.#recording = recording
    this.#moment = moment
    this.kinds = {
      kinds: recording.kinds,
      problem: undefined,
      listen: () => ({ [Symbol.dispose]: () => undefined }),
    }
  }

  follow(options: FollowOptions): void {
    // Deferred, as a response would be: the sink may not be complete while its owner is being built.
    queueMicrotask(() => {
      if (options.signal.aborted) return
      const { sink } = options
      try {
        sink.page(this.#list(options), true)
        sink.listed()
        sink.state('live')
      } catch (error) {
        sink.state('retrying', problemText(error))
      }
    })
  }

  #list({ resource, namespace, labelSelector = '', fieldSelector = '', form = 'object' }: FollowOptions): unknown {
    const labels = parseSelector(labelSelector)
    const fields = parseFieldSelector(fieldSelector)
    const items: Json[] = []
    const rows: unknown[] = []
    for (const recorded of this.#recording.objectsOf(resource)) {
      if (namespace !== undefined && namespace !== '' && recorded.namespace !== namespace) continue
      const state = stateAt(recorded, this.#moment)
      // Most objects can be left out without parsing them.
      if (state === undefined || !mayMatch(recorded, fields)) continue
      const { row } = state
      if (form.startsWith('table') && labels.isEverything && fields.isEverything) {
        const { name, uid, created } = row
        rows.push({
          cells: row.cells,
          object: { metadata: { name, namespace: row.namespace, uid, creationTimestamp: created } },
        })
        continue
      }
      const object = JSON.parse(state.text) as Json
      if (!labels.matches(textsAt(objectAt(object, 'metadata'), 'labels'))) continue
      if (!fields.matchesBy((field) => fieldText(object, field))) continue
      items.push(object)
      rows.push({ cells: row.cells, object })
    }
    const [first] = items
    return form.startsWith('table')
      ? { columnDefinitions: this.#recording.columnsOf(resource), rows }
      : { apiVersion: first?.['apiVersion'], kind: `${String(first?.['kind'] ?? '')}List`, items }
  }
}

function mayMatch({ name }: RecordedObject, fields: ReturnType<typeof parseFieldSelector>): boolean {
  const exact = fields.exactValueOf('metadata.name')
  return exact === undefined || exact === name
}

/** The value of a field as a field selector compares it. */
function fieldText(object: Json, path: string): string {
  let value: unknown = object
  for (const name of path.split('.')) value = isJsonObject(value) ? value[name] : undefined
  return value === undefined || value === null ? '' : String(value)
}
