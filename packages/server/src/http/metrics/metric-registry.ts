/** Values of labels, in the order in which the metric names them. */
export type LabelValues = readonly string[]

/** One metric with all its series. */
interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  lines(): string[]
}

/** One series of a counter: look it up once, where it is used often. */
export class CounterSeries {
  value = 0

  add(amount = 1): void {
    this.value += amount
  }
}

/** A number that only grows, for each combination of labels. */
export class Counter {
  readonly #series = new Map<string, CounterSeries>()

  series(labels: LabelValues): CounterSeries {
    const key = labels.join(separator)
    let series = this.#series.get(key)
    if (!series) this.#series.set(key, (series = new CounterSeries()))
    return series
  }

  entries(): IterableIterator<[string, CounterSeries]> {
    return this.#series.entries()
  }
}

/** One series of a histogram. */
export class HistogramSeries {
  readonly #bounds: readonly number[]
  readonly counts: number[]
  count = 0
  sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = bounds.map(() => 0)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > bounds[at]!) at++
    if (at < bounds.length) this.counts[at]!++
    this.count++
    this.sum += value
  }
}

/** Counts observations by size: how many were at most as large as each bound, how many in all, and their sum. */
export class Histogram {
  readonly bounds: readonly number[]
  readonly #series = new Map<string, HistogramSeries>()

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
  }

  series(labels: LabelValues): HistogramSeries {
    const key = labels.join(separator)
    let series = this.#series.get(key)
    if (!series) this.#series.set(key, (series = new HistogramSeries(this.bounds)))
    return series
  }

  entries(): IterableIterator<[string, HistogramSeries]> {
    return this.#series.entries()
  }
}

/** Joins label values into keys; no label value contains it. */
const separator = '\u0000'

/** The metrics of a process, written in the text format of Prometheus. */
export class MetricRegistry {
  readonly #metrics = new Map<string, Metric>()

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    const counter = new Counter()
    this.#add({
      name,
      help,
      type: 'counter',
      lines: () =>
        [...counter.entries()].map(([key, { value }]) => `${name}${labelText(labels, key)} ${number(value)}`),
    })
    return counter
  }

  /** A number that is read when somebody asks. */
  gauge(
    name: string,
    help: string,
    labels: readonly string[],
    read: () => Iterable<readonly [LabelValues, number]>,
    type: 'gauge' | 'counter' = 'gauge',
  ): void {
    const lines = (): string[] =>
      [...read()].map(([values, value]) => `${name}${labelText(labels, values.join(separator))} ${number(value)}`)
    this.#add({ name, help, type, lines })
  }

  histogram(name: string, help: string, labels: readonly string[], bounds: readonly number[]): Histogram {
    const histogram = new Histogram(bounds)
    const lines = (): string[] =>
      [...histogram.entries()].flatMap(([key, { counts, count, sum }]) => {
        let below = 0
        const buckets = bounds.map((bound, index) => {
          below += counts[index]!
          return `${name}_bucket${labelText(labels, key, `le="${bound}"`)} ${below}`
        })
        return [
          ...buckets,
          `${name}_bucket${labelText(labels, key, 'le="+Inf"')} ${count}`,
          `${name}_sum${labelText(labels, key)} ${number(sum)}`,
          `${name}_count${labelText(labels, key)} ${count}`,
        ]
      })
    this.#add({ name, help, type: 'histogram', lines })
    return histogram
  }

  /** Everything, sorted by name. */
  render(): string {
    const out: string[] = []
    for (const name of [...this.#metrics.keys()].sort()) {
      const metric = this.#metrics.get(name)!
      const lines = metric.lines()
      if (lines.length === 0) continue
      out.push(`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.type}`, ...lines)
    }
    return `${out.join('\n')}\n`
  }

  #add(metric: Metric): void {
    if (this.#metrics.has(metric.name)) throw new Error(`The metric ${metric.name} exists already`)
    this.#metrics.set(metric.name, metric)
  }
}

function labelText(names: readonly string[], key: string, more = ''): string {
  const values = names.length === 0 ? [] : key.split(separator)
  const pairs = names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`)
  if (more !== '') pairs.push(more)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`))
}

function number(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '+Inf' : String(value)
}
