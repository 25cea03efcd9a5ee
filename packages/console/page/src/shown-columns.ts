import type { Column, Row } from '../../src/wire/messages.ts'
import type { Sorting } from './sort-rows.ts'
import { text } from './text.ts'

/** A column of the drawn table. */
export interface ShownColumn {
  readonly name: string
  readonly description: string
  /** The cell, or the field of the row, that the column shows. */
  readonly by: Sorting['by']
  /** A track of the CSS grid. */
  readonly width: string
}

// Enough rows for a good guess of the width; measuring all of them would cost time at every change.
const measured = 200
const [narrowest, widest] = [6, 48]

/** The columns to show: namespace first if the rows have several, ages computed by the page. */
export function shownColumns(
  columns: readonly Column[],
  rows: readonly Row[],
  { isWide, showsNamespace }: { readonly isWide: boolean; readonly showsNamespace: boolean },
): ShownColumn[] {
  const sample = rows.slice(0, measured)
  const shown: ShownColumn[] = []
  if (showsNamespace)
    shown.push({
      name: text('namespace'),
      description: '',
      by: 'namespace',
      width: track(
        text('namespace'),
        sample.map(({ namespace = '' }) => namespace),
      ),
    })
  columns.forEach(({ name, description, priority }, index) => {
    if (priority > 0 && !isWide) return
    // The server computes an age once; the page keeps it current.
    const by = name === 'Age' ? 'created' : index
    shown.push({
      name,
      description,
      by,
      width: track(
        name,
        sample.map(({ cells }) => String(cells[index] ?? '')),
      ),
    })
  })
  return shown
}

function track(title: string, values: readonly string[]): string {
  // Room for the arrow of a sorted column.
  const longest = values.reduce((most, { length }) => Math.max(most, length), title.length + 2)
  const width = Math.max(narrowest, Math.min(widest, longest))
  return `minmax(${Math.min(width, 24) + 2}ch, ${width}fr)`
}
