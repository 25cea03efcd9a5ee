import type { Column, FeedState, Row, Update } from '../../src/wire/messages.ts'

/** The contents of a table. Every change makes a new value, but all values share one map of rows, which is current. */
export interface TableData {
  /** Identifies the value. */
  readonly id: number
  /** The rows that differ from an earlier value; absent if all may differ. */
  readonly since?: { readonly id: number; readonly uids: ReadonlySet<string> } | undefined
  readonly columns: readonly Column[]
  readonly rows: ReadonlyMap<string, Row>
  readonly state: FeedState
  readonly problem?: string | undefined
}

export const emptyTable: TableData = { id: 0, columns: [], rows: new Map(), state: 'loading' }

let lastId = 0

/** Collects the updates of a table. While the stream is opened again, the old rows stay until the new ones are complete. */
export class TableRows {
  #shown: TableData = emptyTable
  #rows = new Map<string, Row>()
  /** The rows of a list that is not complete yet. */
  #next: Map<string, Row> | undefined
  /** The rows that changed since the last value was taken; undefined if all may have changed. */
  #changed: Set<string> | undefined
  #state: FeedState = 'loading'
  #columns: readonly Column[] = []
  #problem: string | undefined

  get state(): FeedState {
    return this.#state
  }

  update({ reset, columns, rows, removed, state, problem }: Extract<Update, { type: 'table' }>): void {
    this.#columns = columns ?? this.#columns
    this.#state = state
    this.#problem = problem
    if (reset) {
      // Without rows of an earlier list, the new ones are shown as they arrive.
      if (this.#rows.size > 0) this.#next = new Map()
      this.#changed = undefined
    }
    const target = this.#next ?? this.#rows
    for (const row of rows) {
      target.set(row.uid, row)
      if (this.#next === undefined) this.#changed?.add(row.uid)
    }
    for (const uid of removed) {
      target.delete(uid)
      if (this.#next === undefined) this.#changed?.add(uid)
    }
    if (state === 'live' && this.#next !== undefined) {
      this.#rows = this.#next
      this.#next = undefined
      this.#changed = undefined
    }
  }

  /** The current contents. */
  take(): TableData {
    const since = this.#changed && { id: this.#shown.id, uids: this.#changed }
    this.#changed = new Set()
    this.#shown = {
      id: ++lastId,
      since,
      columns: this.#columns,
      rows: this.#rows,
      state: this.#state,
      problem: this.#problem,
    }
    return this.#shown
  }
}
