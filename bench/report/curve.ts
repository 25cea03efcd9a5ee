import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Figures over a size, such as memory over the number of objects. */
export interface Curve {
  /** The name of the file without extension, unique among all suites: lower case, digits and hyphens. */
  readonly name: string
  readonly title: string
  /** The label of the horizontal axis, such as `pods`. */
  readonly x: string
  /** The label of the vertical axis with its unit, such as `memory, MiB`. */
  readonly y: string
  /** Logarithmic axes. A line of slope 1 is then linear growth, whatever the factor. @default true */
  readonly log?: boolean
  /** At most six series, each with at least two points, sorted by x. Values are above 0 on logarithmic axes. */
  readonly series: readonly CurveSeries[]
}

export interface CurveSeries {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

const size = { width: 720, height: 400, left: 72, right: 160, top: 44, bottom: 52 }
/** Distinguishable with every common form of colour blindness, on light and dark backgrounds. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#7f7f7f']

/**
 * Writes `docs/pictures/curves/NAME.svg` and returns the line of Markdown that shows it, for the lines of a suite's
 * report. Keep the numbers in a table too, because `--compare` does not read pictures.
 */
export function curve(
  options: Curve,
  folder: string = join(import.meta.dirname, '../../docs/pictures/curves'),
): string {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${options.name}.svg`), curveSvg(options))
  return `![${options.title}](../docs/pictures/curves/${options.name}.svg)`
}

/** Returns the picture of a curve as SVG. */
function curveSvg({ title, x, y, series, log = true }: Curve): string {
  const xs = axis(
    series.flatMap(({ points }) => points.map(([value]) => value)),
    log,
  )
  const ys = axis(
    series.flatMap(({ points }) => points.map(([, value]) => value)),
    log,
  )
  const [right, bottom] = [size.width - size.right, size.height - size.bottom]
  const across = (value: number): number => round(size.left + xs.position(value) * (right - size.left))
  const up = (value: number): number => round(bottom - ys.position(value) * (bottom - size.top))
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" font-family="system-ui, sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${size.width}" height="${size.height}" fill="#fff"/>`,
    `<text x="${size.left}" y="24" font-size="15" font-weight="600">${escaped(title)}</text>`,
  ]
  for (const tick of xs.ticks) {
    parts.push(`<path d="M${across(tick)} ${size.top}V${bottom}" stroke="#e3e3e3"/>`)
    parts.push(`<text x="${across(tick)}" y="${bottom + 18}" text-anchor="middle" fill="#444">${label(tick)}</text>`)
  }
  for (const tick of ys.ticks) {
    parts.push(`<path d="M${size.left} ${up(tick)}H${right}" stroke="#e3e3e3"/>`)
    parts.push(`<text x="${size.left - 8}" y="${up(tick) + 4}" text-anchor="end" fill="#444">${label(tick)}</text>`)
  }
  const middle = (size.top + bottom) / 2
  parts.push(
    `<text x="${(size.left + right) / 2}" y="${size.height - 12}" text-anchor="middle">${escaped(x)}</text>`,
    `<text x="18" y="${middle}" text-anchor="middle" transform="rotate(-90 18 ${middle})">${escaped(y)}</text>`,
    `<path d="M${size.left} ${size.top}V${bottom}H${right}" fill="none" stroke="#444"/>`,
  )
  // Names beside the last points, moved apart when they would overlap.
  const names = series
    .map(({ name, points }, index) => ({ name, index, y: up(points.at(-1)![1]) }))
    .toSorted((a, b) => a.y - b.y)
  for (const [i, one] of names.entries()) if (i > 0) one.y = Math.max(one.y, names[i - 1]!.y + 16)
  for (const [index, { points }] of series.entries()) {
    const colour = colours[index % colours.length]!
    const path = points.map(([px, py], i) => `${i === 0 ? 'M' : 'L'}${across(px)} ${up(py)}`).join('')
    parts.push(`<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`)
    for (const [px, py] of points) {
      parts.push(
        `<circle cx="${across(px)}" cy="${up(py)}" r="3.5" fill="${colour}"><title>${label(px)}: ${label(py)}</title></circle>`,
      )
    }
  }
  for (const { name, index, y: place } of names) {
    parts.push(
      `<text x="${right + 10}" y="${place + 4}" fill="${colours[index % colours.length]!}">${escaped(name)}</text>`,
    )
  }
  return `${parts.join('\n')}\n</svg>\n`
}

interface Axis {
  readonly ticks: readonly number[]
  /** Returns the position of a value, from 0 to 1. */
  position(value: number): number
}

function axis(values: readonly number[], log: boolean): Axis {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  if (!log) {
    const step = niceStep(most / 5)
    const end = Math.max(step, Math.ceil(most / step) * step)
    const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step)
    return { ticks, position: (value) => value / end }
  }
  const all: number[] = []
  for (let power = Math.floor(Math.log10(least)); power <= Math.ceil(Math.log10(most)) + 1; power++) {
    for (const digit of [1, 2, 5]) all.push(digit * 10 ** power)
  }
  const first = all.findLastIndex((tick) => tick <= least * 1.0001)
  const last = all.findIndex((tick) => tick >= most * 0.9999 && tick > all[first]!)
  const chosen = all.slice(first, last + 1)
  const [start, end] = [Math.log10(chosen[0]!), Math.log10(chosen.at(-1)!)]
  // At most nine ticks: with more decades, powers of ten only.
  const ticks = chosen.length <= 9 ? chosen : chosen.filter((tick) => Math.abs(Math.log10(tick) % 1) < 1e-9)
  return { ticks, position: (value) => (Math.log10(value) - start) / (end - start) }
}

function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least * 0.999)!
}

const round = (value: number): number => Math.round(value * 10) / 10
const label = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en')
const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`)
