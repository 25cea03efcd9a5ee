import { useEffect, useRef } from 'preact/hooks'
import type { Row } from '../../src/wire/messages.ts'
import { ageOf } from './age.ts'
import { memo } from './memo.ts'
import type { ShownColumn } from './shown-columns.ts'
import { toneOf } from './tone.ts'

/** One row of a table. It lights up when its object changes. */
export const TableRow = memo(function TableRow(props: {
  readonly row: Row
  readonly id: string
  readonly index: number
  readonly top: number
  readonly columns: readonly ShownColumn[]
  readonly template: string
  readonly now: number
  readonly isSelected: boolean
  readonly onOpen: () => void
}) {
  const { row, index, columns } = props
  const element = useRef<HTMLDivElement>(null)
  const cells = JSON.stringify(row.cells)
  const shown = useRef(cells)
  useEffect(() => {
    if (shown.current === cells) return
    shown.current = cells
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches)
      element.current?.animate({ backgroundColor: ['var(--flash)', 'transparent'] }, 900)
  }, [cells])
  const classes = ['row', props.isSelected && 'selected', index % 2 === 1 && 'odd']
  return (
    <div
      ref={element}
      id={props.id}
      class={classes.filter(Boolean).join(' ')}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={props.isSelected}
      style={{ gridTemplateColumns: props.template, transform: `translateY(${props.top}px)` }}
      onClick={props.onOpen}
    >
      {columns.map(({ name, by }) => {
        const value =
          by === 'created' ? ageOf(row.created, props.now) : by === 'namespace' ? row.namespace : row.cells[by]
        const shownText = value === null || value === undefined ? '' : String(value)
        return (
          <div key={String(by)} role="gridcell" class={toneOf(name, value)} title={shownText}>
            {shownText}
          </div>
        )
      })}
    </div>
  )
})
