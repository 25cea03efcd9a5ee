import { isApiError } from '@kubewright/api'
import { type Clock, deepEqual, textOf } from '@kubewright/base'
import type { ClusterView } from '../cluster/cluster-view.ts'
import { type Json, objectAt } from '../cluster/json.ts'
import { isSecret, maskSecret } from '../cluster/mask-secret.ts'
import { readTable } from '../cluster/read-table.ts'
import type { Row } from '../wire/messages.ts'
import type { KindInfo } from '../wire/names.ts'
import { hasHeartbeats, isHeartbeat } from './heartbeat.ts'
import type { Recording } from './recording.ts'

/**
 * Records all objects of a cluster as they change. Values of Secrets are never recorded. Heartbeats replace the state
 * before them instead of being changes of their own. A kind that the client may not list is left out.
 */
export class Recorder implements Disposable {
  readonly #cluster: ClusterView
  readonly #recording: Recording
  readonly #clock: Clock
  readonly #stop = new AbortController()
  readonly #followed = new Set<string>()
  readonly #listening: Disposable
  #isFirst = true

  constructor(cluster: ClusterView, recording: Recording, clock: Clock) {
    this.#cluster = cluster
    this.#recording = recording
    this.#clock = clock
    this.#listening = cluster.kinds.listen(() => this.#followKinds())
    this.#followKinds()
  }

  #followKinds(): void {
    const { kinds } = this.#cluster.kinds
    if (kinds.length === 0) return
    this.#recording.setKinds(kinds)
    for (const kind of kinds) {
      const id = `${kind.group}/${kind.plural}`
      // The objects of the group are the same as the core Events.
      if (id === 'events.k8s.io/events' || this.#followed.has(id) || !kind.verbs.includes('watch')) continue
      this.#followed.add(id)
      this.#follow(kind, this.#isFirst)
    }
    this.#isFirst = false
  }

  /** With `isBase`, the first list shows what existed before the recording began. */
  #follow(kind: KindInfo, isBase: boolean): void {
    const { group, version, plural } = kind
    const resource = { group, version, plural }
    const last = new Map<string, { readonly row: Row; readonly version: string; readonly object?: Json | undefined }>()
    let listed = new Set<string>()
    let base = isBase
    const put = (row: Row, original: Json): void => {
      const { uid, name, namespace } = row
      const object = isSecret(original) ? maskSecret(original) : original
      const before = last.get(uid)
      const version = textOf(objectAt(object, 'metadata')['resourceVersion'])
      last.set(uid, { row, version, object: hasHeartbeats(object) ? object : undefined })
      if (before?.version === version) return
      const replaces = before?.object !== undefined && isHeartbeat(before.object, object)
      const state = { text: JSON.stringify(object), row }
      this.#recording.add({ resource, uid, name, namespace }, state, this.#clock.now(), { isBase: base, replaces })
    }
    const remove = (uid: string): void => {
      const known = last.get(uid)
      if (known === undefined) return
      last.delete(uid)
      const { name, namespace } = known.row
      this.#recording.add({ resource, uid, name, namespace }, undefined, this.#clock.now())
    }
    const read = (table: unknown, use: (row: Row, object: Json) => void): void => {
      const { columns, rows } = readTable(table)
      if (columns !== undefined && !deepEqual(columns, this.#recording.columnsOf(resource)))
        this.#recording.setColumns(resource, columns)
      for (const { row, object } of rows) use(row, object)
    }
    this.#cluster.follow({
      signal: this.#stop.signal,
      resource,
      form: 'table-with-objects',
      isFinal: (error) => isApiError(error) && [403, 404, 405].includes(error.statusCode),
      sink: {
        page: (page, isFirst) => {
          if (isFirst) listed = new Set()
          read(page, (row, object) => {
            listed.add(row.uid)
            put(row, object)
          })
        },
        listed: () => {
          for (const uid of [...last.keys()]) if (!listed.has(uid)) remove(uid)
          base = false
        },
        event: (type, table) => read(table, (row, object) => (type === 'DELETED' ? remove(row.uid) : put(row, object))),
        state: () => undefined,
      },
    })
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    this.#listening[Symbol.dispose]()
  }
}
