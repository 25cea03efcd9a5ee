import { append } from '../append.ts'
import type { MetricDefinition } from './metric-definition.ts'
import type { MetricFamily, MetricSeries } from './metric-series.ts'

/** A text format of metrics: Prometheus' 0.0.4, or OpenMetrics 1.0.0. */
export type ExpositionFormat = 'text' | 'openmetrics'

/** The Content-Type of each format. */
export const expositionTypes: Readonly<Record<ExpositionFormat, string>> = Object.freeze({
  text: 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores',
})

/** The format that a scraper prefers by its Accept header: OpenMetrics only when the header names it. */
export function acceptedFormat(accept: string | undefined): ExpositionFormat {
  let best: ExpositionFormat = 'text'
  let weight = 0
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const format = type === 'application/openmetrics-text' ? 'openmetrics' : type === 'text/plain' ? 'text' : undefined
    const quality = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    if (format !== undefined && quality > weight) {
      best = format
      weight = quality
    }
  }
  return best
}

/** Writes the metrics that have series, sorted by name. */
export function exposition(families: Iterable<MetricFamily>, format: ExpositionFormat): string {
  const sorted = [...families].sort((a, b) => (a.definition.name < b.definition.name ? -1 : 1))
  const lines: string[] = []
  for (const family of sorted) addFamily(lines, family, format)
  if (format === 'openmetrics') lines.push('# EOF')
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** Adds the lines of a metric. Lines are added one by one: a spread of a large array would exhaust the call stack. */
function addFamily(lines: string[], family: MetricFamily, format: ExpositionFormat): void {
  const { definition, buckets } = family
  const { name } = definition
  const bounds = buckets.map((bound) => formatFloat(bound))
  let isFirst = true
  for (const series of family.series) {
    if (isFirst) append(lines, headLines(definition, format))
    isFirst = false
    if (definition.type === 'histogram') addHistogram(lines, name, bounds, series)
    else lines.push(`${name}${braces(series.labels)} ${formatFloat(series.value)}`)
  }
}

function headLines({ name, type, help }: MetricDefinition, format: ExpositionFormat): string[] {
  const open = format === 'openmetrics'
  const isTotal = type === 'counter' && name.endsWith('_total')
  const family = open && isTotal ? name.slice(0, -'_total'.length) : name
  // OpenMetrics requires counter names to end in _total; other counters have the type unknown.
  const shown = open && type === 'counter' && !isTotal ? 'unknown' : type
  const escaped = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
  const text = open ? escaped.replaceAll('"', '\\"') : escaped
  return [...(text === '' ? [] : [`# HELP ${family} ${text}`]), `# TYPE ${family} ${shown}`]
}

function addHistogram(lines: string[], name: string, bounds: readonly string[], series: MetricSeries): void {
  const { labels, counts, value } = series
  const prefix = labels === '' ? '' : `${labels},`
  let total = 0
  for (const [index, count] of counts.entries()) {
    total += count
    lines.push(`${name}_bucket{${prefix}le="${bounds[index] ?? '+Inf'}"} ${total}`)
  }
  lines.push(`${name}_sum${braces(labels)} ${formatFloat(value)}`, `${name}_count${braces(labels)} ${total}`)
}

const braces = (labels: string): string => (labels === '' ? '' : `{${labels}}`)

/** Formats a number as Go's shortest `%g`: a query that selects a bucket compares the text of its bound. */
export function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-4 && size < 1e6)) return String(value)
  return value.toExponential().replace(/e([+-])(\d)$/, (_, sign: string, digit: string) => `e${sign}0${digit}`)
}
