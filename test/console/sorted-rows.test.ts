import { expect, test } from 'vitest'
import { SortedRows } from '../../packages/console/page/src/sorted-rows.ts'
import { TableRows } from '../../packages/console/page/src/table-rows.ts'
import type { Row, Update } from '../../packages/console/src/wire/messages.ts'

const row = (name: string, ...cells: Row['cells'][number][]): Row => ({
  uid: name,
  name,
  namespace: 'default',
  created: '',
  cells: [name, ...cells],
})

function update(part: Partial<Extract<Update, { type: 'table' }>>): Extract<Update, { type: 'table' }> {
  return { type: 'table', reset: false, rows: [], removed: [], state: 'live', ...part }
}

const names = (rows: readonly Row[]): string => rows.map(({ name }) => name).join(' ')

test('SortedRows.update() adds, moves and removes the rows that changed', () => {
  const table = new TableRows()
  const sorted = new SortedRows()
  table.update(update({ reset: true, rows: [row('pod-10', 1), row('pod-2', 5), row('pod-1', 3)] }))
  const byCell = { by: 1, isDescending: true }
  expect(names(sorted.update(table.take(), '', byCell))).toBe('pod-2 pod-1 pod-10')
  table.update(update({ rows: [row('pod-10', 4), row('pod-3', 9)], removed: ['pod-1'] }))
  const shown = sorted.update(table.take(), '', byCell)
  expect(names(shown)).toBe('pod-3 pod-2 pod-10')
  // A row that stays at its place is replaced, too.
  table.update(update({ rows: [row('pod-10', 3)] }))
  const next = sorted.update(table.take(), '', byCell)
  expect(next.at(-1)?.cells).toEqual(['pod-10', 3])
  expect(next).not.toBe(shown)
})

test('SortedRows.update() equals a complete sort after any sequence of updates', () => {
  const table = new TableRows()
  const sorted = new SortedRows()
  table.update(update({ reset: true, rows: [] }))
  sorted.update(table.take(), '1', undefined)
  for (let step = 0; step < 300; step++) {
    const name = (offset: number): string => `pod-${(step * 7919 + offset * 31) % 40}`
    const removed = step % 3 === 0 ? [name(1)] : []
    const rows = [name(2), name(3)].map((one) => row(one, step % 5)).filter(({ uid }) => !removed.includes(uid))
    table.update(update({ rows, removed }))
    // A value that is not drawn must not lose its changes.
    if (step % 4 === 0) table.take()
    const data = table.take()
    expect(names(sorted.update(data, '1', undefined))).toBe(names(new SortedRows().update(data, '1', undefined)))
  }
})

test('TableRows.take() keeps the rows of an earlier list until the new list is complete', () => {
  const table = new TableRows()
  table.update(update({ reset: true, rows: [row('a')] }))
  table.update(update({ reset: true, rows: [row('b')], state: 'loading' }))
  expect([...table.take().rows.keys()]).toEqual(['a'])
  table.update(update({ rows: [row('c')] }))
  expect([...table.take().rows.keys()]).toEqual(['b', 'c'])
})
