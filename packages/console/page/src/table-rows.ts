import type { Column, FeedState, Row, Update } from '../../src/wire/messages.ts'

/** The contents of a table. Every change makes a new value. */
export interface TableData {
  readonly columns: readonly Column[]
  readonly rows: ReadonlyMap<string, Row>
  readonly state: FeedState
  readonly problem?: string | undefined
}

export const emptyTable: TableData = { columns: [], rows: new Map(), state: 'loading' }

/** Collects the updates of a table. While the stream is opened again, the old rows stay until the new ones are complete. */
export class TableRows {
  #shown: TableData = emptyTable
  /** The rows of a list that is not complete yet. */
  #next: ReadonlyMap<string, Row> | undefined
  /** Whether rows of an earlier list stay visible until the new list is complete. */
  #keepsOld = false

  update(update: Extract<Update, { type: 'table' }>): TableData {
    const { columns = this.#shown.columns, state, problem } = update
    if (update.reset) {
      this.#next = new Map()
      this.#keepsOld = this.#shown.rows.size > 0
    }
    // Always a new map, because components compare the maps to see changes.
    const rows = new Map(this.#next ?? this.#shown.rows)
    for (const row of update.rows) rows.set(row.uid, row)
    for (const uid of update.removed) rows.delete(uid)
    if (state === 'live') {
      this.#next = undefined
      this.#keepsOld = false
    } else if (this.#next !== undefined) this.#next = rows
    this.#shown = { columns, rows: this.#keepsOld ? this.#shown.rows : rows, state, problem }
    return this.#shown
  }
}
