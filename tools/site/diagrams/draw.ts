import { escapeHtml } from '../markdown.ts'

/** Where a box is and what it says. Positions are columns and rows of a grid and may have fractions. */
export interface Box {
  readonly at: readonly [column: number, row: number]
  /** Columns and rows that the box covers, 1 by default. */
  readonly size?: readonly [columns: number, rows: number]
  /** Lines of text: the first is the name, further ones are details. */
  readonly text: string
  /** `mine`: code of the user; `store`: stored state; `warn`: a failure; `group`: a dashed frame around others. */
  readonly style?: 'mine' | 'store' | 'warn' | 'group'
}

/** An arrow from one box to another. */
export interface Arrow {
  readonly from: string
  readonly to: string
  readonly label?: string
  /** Sides of the boxes where the arrow starts and ends, such as `right left`. The default is the shortest way. */
  readonly sides?: string
  readonly isDashed?: boolean
}

/** A picture of boxes and arrows. */
export interface Diagram {
  readonly description: string
  readonly boxes: Readonly<Record<string, Box>>
  readonly arrows: readonly Arrow[]
  /** Width of a column and height of a row in pixels. */
  readonly cell?: readonly [number, number]
}

const gap = [52, 34] as const
type Point = readonly [number, number]
interface Rectangle {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

const style = `<style>
.box{fill:#f5f6f8;stroke:#c3cad4}.mine{fill:#e6eefc;stroke:#1f5fd1}.store{fill:#e4f5ea;stroke:#13713a}.warn{fill:#fff5dd;stroke:#8a5a00}
.group{fill:none;stroke:#c3cad4;stroke-dasharray:4 4}.arrow{fill:none;stroke:#5c6673;stroke-width:1.4}.head{fill:#5c6673}.label-back{fill:#fff}
text{fill:#1c2127;font:13px system-ui,'Segoe UI','Noto Sans',sans-serif}.quiet{fill:#5c6673;font-size:11.5px}
@media (prefers-color-scheme:dark){.box{fill:#1b1f26;stroke:#3d4552}.mine{fill:#1f2f4d;stroke:#7aaaff}.store{fill:#15301f;stroke:#58c98a}.warn{fill:#352b14;stroke:#e5b454}
.arrow{stroke:#98a2b0}.head{fill:#98a2b0}.label-back{fill:#0d1117}text{fill:#e3e7ed}.quiet{fill:#98a2b0}.group{stroke:#3d4552}}
</style>`

/** Draws a diagram as SVG, with one style for light and dark surroundings. Throws if a text does not fit. */
export function draw(diagram: Diagram): string {
  const [width, height] = diagram.cell ?? [160, 58]
  const rectangles = new Map(
    Object.entries(diagram.boxes).map(([name, { at, size = [1, 1], style: kind }]) => {
      const margin = kind === 'group' ? 14 : 0
      return [
        name,
        {
          x: 16 + at[0] * (width + gap[0]) - margin,
          y: 16 + at[1] * (height + gap[1]) - margin - (kind === 'group' ? 12 : 0),
          w: size[0] * (width + gap[0]) - gap[0] + 2 * margin,
          h: size[1] * (height + gap[1]) - gap[1] + 2 * margin + (kind === 'group' ? 12 : 0),
        },
      ]
    }),
  )
  const boxes = Object.entries(diagram.boxes)
    .sort(([, a], [, b]) => Number(b.style === 'group') - Number(a.style === 'group'))
    .map(([name, box]) => drawBox(box, rectangles.get(name)!))
  const arrows = diagram.arrows.map((arrow) => drawArrow(arrow, rectangles))
  const corners = [...rectangles.values()].flatMap(({ x, y, w, h }): Point[] => [
    [x, y],
    [x + w, y + h],
  ])
  const points = [...corners, ...arrows.flatMap((arrow) => arrow.points)]
  const left = Math.min(...points.map(([x]) => x)) - 12
  const top = Math.min(...points.map(([, y]) => y)) - 12
  const right = Math.max(...points.map(([x]) => x)) + 12
  const bottom = Math.max(...points.map(([, y]) => y)) + 12
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${left} ${top} ${right - left} ${bottom - top}" width="${right - left}" height="${bottom - top}">
${style}
<title>${escapeHtml(diagram.description)}</title>
${boxes.join('\n')}
${arrows.map(({ line }) => line).join('\n')}
${arrows.flatMap(({ label }) => (label === '' ? [] : [label])).join('\n')}
</svg>
`
}

function drawBox({ text, style: kind }: Box, { x, y, w, h }: Rectangle): string {
  const lines = text.split('\n')
  const shape = `<rect class="${kind === 'group' ? 'group' : `box ${kind ?? ''}`.trim()}" x="${x}" y="${y}" width="${w}" height="${h}" rx="8"/>`
  if (kind === 'group') return `${shape}<text class="quiet" x="${x + 10}" y="${y + 16}">${escapeHtml(text)}</text>`
  const first = y + h / 2 - (lines.length - 1) * 8 + 4.5
  const texts = lines.map((line, i) => {
    const estimated = line.length * (i === 0 ? 6.9 : 5.9)
    if (estimated > w - 4) throw new Error(`"${line}" does not fit into its box`)
    const className = i === 0 ? '' : ' class="quiet"'
    return `<text${className} x="${x + w / 2}" y="${first + i * 16}" text-anchor="middle">${escapeHtml(line)}</text>`
  })
  return shape + texts.join('')
}

type Side = 'left' | 'right' | 'top' | 'bottom'

function pointOf({ x, y, w, h }: Rectangle, side: Side): Point {
  if (side === 'left') return [x, y + h / 2]
  if (side === 'right') return [x + w, y + h / 2]
  return [x + w / 2, side === 'top' ? y : y + h]
}

function sidesOf(a: Rectangle, b: Rectangle): [Side, Side] {
  if (b.x >= a.x + a.w) return ['right', 'left']
  if (b.x + b.w <= a.x) return ['left', 'right']
  return b.y > a.y ? ['bottom', 'top'] : ['top', 'bottom']
}

interface DrawnArrow {
  readonly line: string
  readonly label: string
  readonly points: readonly Point[]
}

function drawArrow(arrow: Arrow, boxes: ReadonlyMap<string, Rectangle>): DrawnArrow {
  const [a, b] = [boxes.get(arrow.from), boxes.get(arrow.to)]
  if (!a || !b) throw new Error(`No box ${arrow.from} or ${arrow.to}`)
  const [out, into] = (arrow.sides?.split(' ') as [Side, Side] | undefined) ?? sidesOf(a, b)
  const [start, end] = alignedPoints(a, out, b, into)
  const isHorizontal = (side: Side): boolean => side === 'left' || side === 'right'
  let middle: Point[]
  if (isHorizontal(out) && isHorizontal(into)) {
    const x =
      out === into
        ? out === 'right'
          ? Math.max(start[0], end[0]) + 22
          : Math.min(start[0], end[0]) - 22
        : (start[0] + end[0]) / 2
    middle = [
      [x, start[1]],
      [x, end[1]],
    ]
  } else if (!isHorizontal(out) && !isHorizontal(into)) {
    const y =
      out === into
        ? out === 'bottom'
          ? Math.max(start[1], end[1]) + 20
          : Math.min(start[1], end[1]) - 20
        : (start[1] + end[1]) / 2
    middle = [
      [start[0], y],
      [end[0], y],
    ]
  } else middle = [isHorizontal(out) ? [end[0], start[1]] : [start[0], end[1]]]
  const points = [start, ...middle, end]
  const path = `M${points.map((point) => point.join(' ')).join('L')}`
  const dash = arrow.isDashed ? ' stroke-dasharray="5 4"' : ''
  const line = `<path class="arrow" d="${path}"${dash}/>${drawHead(end, into)}`
  return {
    line,
    label: arrow.label === undefined ? '' : drawLabel(arrow.label, points),
    points: arrow.label === undefined ? points : [...points, ...labelCorners(arrow.label, points)],
  }
}

/** Where both boxes face each other, the arrow is straight. */
function alignedPoints(a: Rectangle, out: Side, b: Rectangle, into: Side): [Point, Point] {
  const [start, end] = [pointOf(a, out), pointOf(b, into)]
  const opposite = `${out} ${into}`
  if (opposite === 'right left' || opposite === 'left right') {
    const [low, high] = [Math.max(a.y, b.y), Math.min(a.y + a.h, b.y + b.h)]
    if (high - low > 12)
      return [
        [start[0], (low + high) / 2],
        [end[0], (low + high) / 2],
      ]
  } else if (opposite === 'bottom top' || opposite === 'top bottom') {
    const [low, high] = [Math.max(a.x, b.x), Math.min(a.x + a.w, b.x + b.w)]
    if (high - low > 12)
      return [
        [(low + high) / 2, start[1]],
        [(low + high) / 2, end[1]],
      ]
  }
  return [start, end]
}

function drawHead([x, y]: Point, side: Side): string {
  const corners: Record<Side, readonly [Point, Point]> = {
    left: [
      [-7, -4],
      [-7, 4],
    ],
    right: [
      [7, -4],
      [7, 4],
    ],
    top: [
      [-4, -7],
      [4, -7],
    ],
    bottom: [
      [-4, 7],
      [4, 7],
    ],
  }
  return `<path class="head" d="M${x} ${y}${corners[side].map(([dx, dy]) => `L${x + dx} ${y + dy}`).join('')}Z"/>`
}

function labelPlace(label: string, points: readonly Point[]): Rectangle {
  // The middle of the longest segment.
  const segments = points.slice(1).map((point, i) => [points[i]!, point] as const)
  const length = ([a, b]: readonly [Point, Point]): number => Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1])
  const [a, b] = segments.reduce((best, one) => (length(one) > length(best) ? one : best))
  const [x, y] = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]
  const lines = label.split('\n')
  const w = Math.max(...lines.map((line) => line.length)) * 5.7 + 6
  const h = lines.length * 14 + 2
  return { x: x - w / 2, y: y - h / 2, w, h }
}

function labelCorners(label: string, points: readonly Point[]): Point[] {
  const { x, y, w, h } = labelPlace(label, points)
  return [
    [x, y],
    [x + w, y + h],
  ]
}

function drawLabel(label: string, points: readonly Point[]): string {
  const { x, y, w, h } = labelPlace(label, points)
  const back = `<rect class="label-back" x="${x}" y="${y}" width="${w}" height="${h}"/>`
  const texts = label
    .split('\n')
    .map(
      (line, i) =>
        `<text class="quiet" x="${x + w / 2}" y="${y + 12 + i * 14}" text-anchor="middle">${escapeHtml(line)}</text>`,
    )
  return back + texts.join('')
}
