import { defaultBuckets, defaultMaxSeries, type MetricDefinition } from './metric-definition.ts'
import type { MetricLabels } from './metric-sink.ts'

/** The measurements of a metric for one set of labels. */
export interface MetricSeries {
  /** The names and values of the labels as text, without braces; empty for none. */
  readonly labels: string
  /** The value of a counter or gauge; the sum of a histogram's observations. */
  value: number
  /** How many observations fell into each bucket of a histogram, the infinite one last; empty for others. */
  readonly counts: number[]
}

/** A metric and its series. The series of a labels object that was used before is found with one look-up. */
export class MetricFamily {
  readonly definition: MetricDefinition
  readonly buckets: readonly number[]
  readonly #byText = new Map<string, MetricSeries>()
  // Callers pass the same frozen object for each series, which saves building the text.
  #byObject = new WeakMap<MetricLabels, MetricSeries>()

  constructor(definition: MetricDefinition) {
    this.definition = definition
    this.buckets = definition.type === 'histogram' ? (definition.buckets ?? defaultBuckets) : []
  }

  /** The series in the order of their first measurement. */
  get series(): Iterable<MetricSeries> {
    return this.#byText.values()
  }

  of(labels: MetricLabels): MetricSeries {
    return this.#byObject.get(labels) ?? this.#create(labels)
  }

  /** The series with these labels; undefined without a measurement. */
  find(labels: MetricLabels): MetricSeries | undefined {
    return this.#byText.get(labelsText(this.definition, labels))
  }

  observe(labels: MetricLabels, value: number): void {
    const series = this.of(labels)
    series.value += value
    const { buckets } = this
    let low = 0
    let high = buckets.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (value <= buckets[middle]!) high = middle
      else low = middle + 1
    }
    series.counts[low]!++
  }

  remove(labels: MetricLabels): void {
    this.#byText.delete(labelsText(this.definition, labels))
    // Other objects with the same labels may lead to the removed series.
    this.#byObject = new WeakMap()
  }

  clear(): void {
    this.#byText.clear()
    this.#byObject = new WeakMap()
  }

  #create(labels: MetricLabels): MetricSeries {
    let text = labelsText(this.definition, labels)
    let series = this.#byText.get(text)
    if (series === undefined && this.#byText.size >= (this.definition.maxSeries ?? defaultMaxSeries)) {
      text = labelsText(this.definition, Object.fromEntries(Object.keys(labels).map((name) => [name, 'other'])))
      series = this.#byText.get(text)
    }
    if (series === undefined) {
      const counts = this.definition.type === 'histogram' ? new Array<number>(this.buckets.length + 1).fill(0) : []
      series = { labels: text, value: 0, counts }
      this.#byText.set(text, series)
    }
    this.#byObject.set(labels, series)
    return series
  }
}

/** Labels that the definition names come first and are shown even when absent, since all series of a metric must agree on them. */
function labelsText({ labels: names = [] }: MetricDefinition, labels: MetricLabels): string {
  const others = Object.keys(labels).filter((name) => !names.includes(name))
  return [...names, ...others.sort()].map((name) => `${name}="${escapeLabel(labels[name] ?? '')}"`).join(',')
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}
