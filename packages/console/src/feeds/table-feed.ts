import { deepEqual } from '@kubewright/base'
import { readTable } from '../cluster/read-table.ts'
import type { Column, FeedState, Row, Topic, Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

// The maximum number of rows per message, so that the page can draw the first ones early.
const maxRows = 500

/** A list as the API server's Table, kept current by a watch. */
export class TableFeed implements Feed {
  readonly #stop = new AbortController()
  readonly #changed: () => void
  readonly #known = new Set<string>()
  /** Rows to send; undefined for rows that were deleted. */
  readonly #pending = new Map<string, Row | undefined>()
  #listed = new Set<string>()
  #columns: readonly Column[] | undefined
  #sentColumns: readonly Column[] | undefined
  #state: FeedState = 'loading'
  #problem: string | undefined
  #isDirty = true
  #isFirst = true

  constructor(topic: Extract<Topic, { type: 'table' }>, { cluster, changed }: FeedContext) {
    this.#changed = changed
    const { resource, namespace, labelSelector, fieldSelector } = topic
    const { group, plural } = resource
    const kind = cluster.kinds.kinds.find((known) => known.group === group && known.plural === plural)
    cluster.follow({
      signal: this.#stop.signal,
      resource,
      namespace,
      labelSelector,
      fieldSelector,
      form: 'table',
      canWatch: kind?.verbs.includes('watch') ?? true,
      sink: {
        page: (page, isFirst) => {
          if (isFirst) this.#listed = new Set()
          this.#read(page, (row) => {
            this.#listed.add(row.uid)
            this.#put(row)
          })
        },
        listed: () => {
          for (const uid of this.#known) if (!this.#listed.has(uid)) this.#remove(uid)
          this.#listed = new Set()
        },
        event: (type, object) =>
          this.#read(object, (row) => (type === 'DELETED' ? this.#remove(row.uid) : this.#put(row))),
        state: (state, problem) => {
          this.#state = state
          this.#problem = problem
          this.#touch()
        },
      },
    })
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    const rows: Row[] = []
    const removed: string[] = []
    for (const [uid, row] of this.#pending) {
      if (rows.length + removed.length === maxRows) break
      this.#pending.delete(uid)
      if (row === undefined) removed.push(uid)
      else rows.push(row)
    }
    this.#isDirty = this.#pending.size > 0
    const columns = this.#columns === this.#sentColumns ? undefined : this.#columns
    this.#sentColumns = this.#columns
    const reset = this.#isFirst
    this.#isFirst = false
    // The page shows a reloaded table when it is live, so only the last part may say so.
    const state = this.#isDirty && this.#state === 'live' ? 'loading' : this.#state
    return { type: 'table', reset, columns, rows, removed, state, problem: this.#problem }
  }

  #read(page: unknown, use: (row: Row) => void): void {
    const { columns, rows } = readTable(page)
    if (columns !== undefined && !deepEqual(columns, this.#columns)) this.#columns = columns
    for (const { row } of rows) use(row)
    this.#touch()
  }

  #put(row: Row): void {
    this.#known.add(row.uid)
    this.#pending.set(row.uid, row)
  }

  #remove(uid: string): void {
    if (this.#known.delete(uid)) this.#pending.set(uid, undefined)
  }

  #touch(): void {
    this.#isDirty = true
    this.#changed()
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
  }
}
