import type { Row } from '../../src/wire/messages.ts'
import { compareRows, matchesFilter, type Sorting } from './sort-rows.ts'
import type { TableData } from './table-rows.ts'

/**
 * The rows of a table, filtered and sorted. Sorting thousands of rows takes longer than a frame, so an update moves only
 * the rows that changed.
 */
export class SortedRows {
  #id = -1
  #filter = ''
  #sorting: Sorting | undefined
  #rows: readonly Row[] = []

  /** Every change of the rows makes a new array. */
  update({ id, since, rows }: TableData, filter: string, sorting: Sorting | undefined): readonly Row[] {
    const isSameView = this.#filter === filter && this.#sorting === sorting
    if (isSameView && this.#id === id) return this.#rows
    if (isSameView && since !== undefined && since.id === this.#id) this.#merge(rows, since.uids)
    else this.#rows = [...rows.values()].filter((row) => matchesFilter(row, filter)).sort(compareRows(sorting))
    this.#id = id
    this.#filter = filter
    this.#sorting = sorting
    return this.#rows
  }

  #merge(rows: ReadonlyMap<string, Row>, uids: ReadonlySet<string>): void {
    if (uids.size === 0) return
    const compare = compareRows(this.#sorting)
    const waiting = new Set(uids)
    const kept: Row[] = []
    for (const row of this.#rows) {
      if (!uids.has(row.uid)) {
        kept.push(row)
        continue
      }
      const current = rows.get(row.uid)
      // Most changes leave a row at its place.
      if (current === undefined || !matchesFilter(current, this.#filter) || compare(row, current) !== 0) continue
      waiting.delete(row.uid)
      kept.push(current)
    }
    const moved = [...waiting]
      .flatMap((uid) => rows.get(uid) ?? [])
      .filter((row) => matchesFilter(row, this.#filter))
      .sort(compare)
    this.#rows = moved.length === 0 ? kept : insert(kept, moved, compare)
  }
}

/** Merges a few sorted rows into many. Finds their places by binary search, because comparing is slow. */
function insert(rows: readonly Row[], added: readonly Row[], compare: (a: Row, b: Row) => number): Row[] {
  const merged: Row[] = []
  let copied = 0
  for (const row of added) {
    let [low, high] = [copied, rows.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (compare(rows[middle] as Row, row) <= 0) low = middle + 1
      else high = middle
    }
    while (copied < low) merged.push(rows[copied++] as Row)
    merged.push(row)
  }
  while (copied < rows.length) merged.push(rows[copied++] as Row)
  return merged
}
