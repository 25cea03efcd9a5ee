import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Column, Row } from '../../src/wire/messages.ts'
import { useNow } from './age.ts'
import { type ShownColumn, shownColumns } from './shown-columns.ts'
import type { Sorting } from './sort-rows.ts'
import { TableRow } from './table-row.tsx'
import { isPressing, isTyping } from './use-shortcuts.ts'

const rowHeight = 30
// Rows above and below the visible part, so that scrolling shows no gap.
const margin = 8
/** The row that was opened last, which is selected when the user comes back. */
let lastOpened: string | undefined

/** A table that draws only the visible rows. Keys move the selection as in k9s. */
export function VirtualTable(props: {
  readonly label: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  readonly isWide: boolean
  readonly showsNamespace: boolean
  readonly sorting: Sorting | undefined
  /** Shown when there are no rows. */
  readonly empty?: string | undefined
  readonly onSort: (sorting: Sorting) => void
  readonly onOpen: (row: Row, tab?: 'yaml' | 'edit') => void
}) {
  const { rows, sorting } = props
  const now = useNow()
  const scroller = useRef<HTMLDivElement>(null)
  const [visible, setVisible] = useState({ top: 0, height: 600 })
  const [selected, setSelected] = useState<string | undefined>(() => lastOpened)
  const id = useId()
  const columns = useStable(
    useMemo(() => shownColumns(props.columns, rows, props), [props.columns, rows, props.isWide, props.showsNamespace]),
  )
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const measure = (): void => setVisible({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    element.addEventListener('scroll', measure, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', measure)
    }
  }, [])
  const index = rows.findIndex(({ uid }) => uid === selected)
  const select = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to))
    const element = scroller.current
    setSelected(rows[next]?.uid)
    if (element === null) return
    const [top, bottom] = [next * rowHeight, (next + 2) * rowHeight]
    if (top < element.scrollTop) element.scrollTop = top
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight
  }
  const open = (row: Row, tab?: 'yaml' | 'edit'): void => {
    lastOpened = row.uid
    props.onOpen(row, tab)
  }
  const onKey = (event: KeyboardEvent): void => {
    if (isTyping(event) || event.ctrlKey || event.metaKey || document.querySelector('dialog') !== null) return
    const page = Math.floor(visible.height / rowHeight) - 2
    const steps: Readonly<Record<string, number>> = {
      j: 1,
      ArrowDown: 1,
      k: -1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -rows.length,
      End: rows.length,
    }
    const step = steps[event.key]
    const row = rows[index]
    if (step !== undefined) select(index < 0 && event.key !== 'End' ? 0 : index + step)
    else if (row !== undefined && event.key === 'Enter' && !isPressing(event)) open(row)
    else if (row !== undefined && event.key === 'y') open(row, 'yaml')
    else if (row !== undefined && event.key === 'e') open(row, 'edit')
    else return
    event.preventDefault()
  }
  const latestKey = useRef(onKey)
  latestKey.current = onKey
  useEffect(() => {
    const listener = (event: KeyboardEvent): void => latestKey.current(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])
  const first = Math.max(0, Math.floor(visible.top / rowHeight) - margin)
  const last = Math.min(rows.length, Math.ceil((visible.top + visible.height) / rowHeight) + margin)
  const template = columns.map(({ width }) => width).join(' ')
  return (
    <div
      class="table"
      ref={scroller}
      tabIndex={0}
      data-start
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-readonly="true"
      aria-activedescendant={index >= first && index < last ? `${id}-${index}` : undefined}
    >
      <div role="presentation">
        {/* Until the server has sent its columns, a row of headings would be empty. */}
        {props.columns.length > 0 && (
          <div role="rowgroup" class="table-head">
            <div class="row" role="row" aria-rowindex={1} style={{ gridTemplateColumns: template }}>
              {columns.map((column) => (
                <HeaderCell key={String(column.by)} column={column} sorting={sorting} onSort={props.onSort} />
              ))}
            </div>
          </div>
        )}
        <div role="rowgroup" class="rows" style={{ height: `${rows.length * rowHeight}px` }}>
          {rows.slice(first, last).map((row, offset) => (
            <TableRow
              key={row.uid}
              row={row}
              id={`${id}-${first + offset}`}
              index={first + offset}
              top={(first + offset) * rowHeight}
              columns={columns}
              template={template}
              now={now}
              isSelected={row.uid === selected}
              onOpen={() => open(row)}
            />
          ))}
        </div>
      </div>
      {rows.length === 0 && props.empty && <p class="empty">{props.empty}</p>}
    </div>
  )
}

function HeaderCell(props: {
  readonly column: ShownColumn
  readonly sorting: Sorting | undefined
  readonly onSort: (sorting: Sorting) => void
}) {
  const { column, sorting } = props
  const isSorted = sorting?.by === column.by
  const isDescending = isSorted && sorting.isDescending
  return (
    <div role="columnheader" aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'}>
      <button
        type="button"
        title={column.description}
        onClick={() => props.onSort({ by: column.by, isDescending: isSorted && !isDescending })}
      >
        {column.name}
        {isSorted && <span aria-hidden="true">{isDescending ? ' ↓' : ' ↑'}</span>}
      </button>
    </div>
  )
}

/** The earlier value as long as a new one is equal, so that the rows are not drawn again. */
function useStable(columns: readonly ShownColumn[]): readonly ShownColumn[] {
  const stable = useRef(columns)
  if (stable.current !== columns && JSON.stringify(stable.current) !== JSON.stringify(columns)) stable.current = columns
  return stable.current
}
