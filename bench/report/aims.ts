import type { ResultFigure, Results } from './results.ts'

/** A target of the project, and the figure that shows whether it is met. */
export interface Aim {
  readonly title: string
  /** The name of the suite: `server` for `server.bench.ts`. */
  readonly suite: string
  /** The first cell of the row. */
  readonly row: string
  /** The heading of the column. */
  readonly column: string
  /** The unit of the limit. A figure in another unit is converted; MiB and milliseconds are the base units. */
  readonly unit: string
  readonly atMost?: number
  readonly atLeast?: number
  /** The cause of a missed target, and what meeting it would take. */
  readonly missing?: string
}

const factors: Readonly<Record<string, readonly [base: string, factor: number]>> = {
  µs: ['ms', 0.001],
  ms: ['ms', 1],
  s: ['ms', 1000],
  KiB: ['MiB', 1 / 1024],
  MiB: ['MiB', 1],
  GiB: ['MiB', 1024],
}

/** Converts a figure to another unit. Returns undefined if the units measure different things. */
function inUnit({ value, unit }: ResultFigure, wanted: string): number | undefined {
  if (unit === wanted) return value
  const [from, to] = [factors[unit], factors[wanted]]
  return from && to && from[0] === to[0] ? (value * from[1]) / to[1] : undefined
}

const short = (value: number): string => Number(value.toPrecision(4)).toLocaleString('en')

/** Returns the Markdown table of all targets as met, missed or not measured. */
export function aimTable(aims: readonly Aim[], results: Results): string[] {
  const lines = ['| target | limit | measured | | suite |', '|---|--:|--:|---|---|']
  for (const aim of aims) {
    const result = results[aim.suite]
    const figure = result?.figures.find(({ row, column }) => row === aim.row && column === aim.column)
    const value = figure && inUnit(figure, aim.unit)
    const unit = aim.unit === '/s' || aim.unit === '×' ? aim.unit : aim.unit === '' ? '' : ` ${aim.unit}`
    const limit = aim.atMost === undefined ? `≥ ${short(aim.atLeast!)}${unit}` : `≤ ${short(aim.atMost)}${unit}`
    const isMet = value !== undefined && value <= (aim.atMost ?? Infinity) && value >= (aim.atLeast ?? -Infinity)
    const verdict = value === undefined ? 'not measured' : isMet ? 'met' : '**missed**'
    const cells = [
      aim.title,
      limit,
      value === undefined ? '–' : `${short(value)}${unit}`,
      verdict,
      result?.title ?? `${aim.suite}.bench.ts`,
    ]
    lines.push(`| ${cells.join(' | ')} |`)
  }
  const reasons = aims.flatMap((aim) => {
    const figure = results[aim.suite]?.figures.find(({ row, column }) => row === aim.row && column === aim.column)
    const value = figure && inUnit(figure, aim.unit)
    const isMissed = value !== undefined && (value > (aim.atMost ?? Infinity) || value < (aim.atLeast ?? -Infinity))
    return isMissed && aim.missing !== undefined ? [`- **${aim.title}**: ${aim.missing}`] : []
  })
  return reasons.length === 0 ? lines : [...lines, '', '### Missed targets', '', ...reasons]
}
