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
  #next: Map<string, Row> | undefined

  update(update: Extract<Update, { type: 'table' }>): TableData {
    const { columns = this.#shown.columns, state, problem } = update
    if (update.reset) this.#next = new Map()
    const rows = this.#next ?? new Map(this.#shown.rows)
    for (const row of update.rows) rows.set(row.uid, row)
    for (const uid of update.removed) rows.delete(uid)
    const isComplete = this.#next === undefined || state === 'live' || this.#shown.rows.size === 0
    if (state === 'live') this.#next = undefined
    this.#shown = { columns, rows: isComplete ? rows : this.#shown.rows, state, problem }
    return this.#shown
  }
}
