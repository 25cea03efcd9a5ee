import type { Row } from '../../src/wire/messages.ts'

/** A column by which rows are sorted: an index of the cells, or one of the fields of every row. */
export interface Sorting {
  readonly by: number | 'namespace' | 'created'
  readonly isDescending: boolean
}

/** The rows with a cell, name or namespace that contains the text. */
export function filterRows(rows: Iterable<Row>, filter: string): Row[] {
  const wanted = filter.trim().toLowerCase()
  if (wanted === '') return [...rows]
  const contains = (value: unknown): boolean => String(value).toLowerCase().includes(wanted)
  return [...rows].filter(({ name, namespace = '', cells }) => [name, namespace, ...cells].some(contains))
}

const collator = new Intl.Collator('en', { numeric: true })

/** Sorts in place. Without a column: by namespace and name. */
export function sortRows(rows: Row[], sorting: Sorting | undefined): Row[] {
  const byName = (a: Row, b: Row): number =>
    collator.compare(a.namespace ?? '', b.namespace ?? '') || collator.compare(a.name, b.name)
  if (sorting === undefined) return rows.sort(byName)
  const { by, isDescending } = sorting
  const sign = isDescending ? -1 : 1
  const value = (row: Row): unknown => (typeof by === 'number' ? row.cells[by] : row[by])
  return rows.sort((a, b) => sign * compare(value(a), value(b)) || byName(a, b))
}

function compare(a: unknown, b: unknown): number {
  return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a ?? ''), String(b ?? ''))
}
