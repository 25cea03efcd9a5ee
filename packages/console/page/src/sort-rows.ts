import type { Row } from '../../src/wire/messages.ts'

/** A column by which rows are sorted: an index of the cells, or one of the fields of every row. */
export interface Sorting {
  readonly by: number | 'namespace' | 'created'
  readonly isDescending: boolean
}

/** Whether a cell, the name or the namespace of a row contains the text. */
export function matchesFilter({ name, namespace = '', cells }: Row, filter: string): boolean {
  const wanted = filter.trim().toLowerCase()
  if (wanted === '') return true
  return [name, namespace, ...cells].some((value) => String(value).toLowerCase().includes(wanted))
}

const collator = new Intl.Collator('en', { numeric: true })

function byName(a: Row, b: Row): number {
  // Most rows have the same namespace, and comparing equal texts with the collator is slow.
  const [one = '', other = ''] = [a.namespace, b.namespace]
  return (
    (one === other ? 0 : collator.compare(one, other)) || (a.name === b.name ? 0 : collator.compare(a.name, b.name))
  )
}

/** Compares rows by a column. Without a column: by namespace and name. */
export function compareRows(sorting: Sorting | undefined): (a: Row, b: Row) => number {
  if (sorting === undefined) return byName
  const { by, isDescending } = sorting
  const sign = isDescending ? -1 : 1
  const value = (row: Row): unknown => (typeof by === 'number' ? row.cells[by] : row[by])
  return (a, b) => sign * compare(value(a), value(b)) || byName(a, b)
}

function compare(a: unknown, b: unknown): number {
  if (a === b) return 0
  return typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a ?? ''), String(b ?? ''))
}
