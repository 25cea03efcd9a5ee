import { checkDefinition } from './check-definition.ts'
import { defaultBuckets, type MetricDefinition } from './metric-definition.ts'
import { MetricFamily } from './metric-series.ts'
import type { MetricLabels } from './metric-sink.ts'

/** Options of {@link counter} and {@link gauge}. */
export interface MetricOptions<Label extends string> {
  /** One sentence for the reader of the metric. */
  readonly help: string
  /** The names of its labels. Each measurement must have all of them. @default none */
  readonly labels?: readonly Label[] | undefined
  /** How many series the metric may have. Further label values share one series named `other`. @default 20000 */
  readonly maxSeries?: number | undefined
}

/** Options of {@link histogram}. */
export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** The upper bounds of the buckets, ascending. @default Prometheus' usual buckets: 5 ms to 10 s */
  readonly buckets?: readonly number[] | undefined
}

/** The values of a metric's labels: all names, and no others. */
export type LabelValues<Label extends string> = { readonly [L in Label]: string }

// A metric without labels takes no labels argument.
type WithLabels<Label extends string, Rest extends readonly unknown[]> = [Label] extends [never]
  ? Rest
  : [labels: LabelValues<Label>, ...rest: Rest]

/** A metric that holds its own measurements. Registries that include it show them. */
export interface Metric<Label extends string = string> {
  readonly definition: MetricDefinition
  /** The value of a counter or gauge, or the number of observations of a histogram; 0 without a measurement. */
  value(...args: WithLabels<Label, []>): number
  /** Removes the series with these labels, for example of a deleted object. */
  remove(...args: WithLabels<Label, []>): void
  /** Removes all series, for example between tests. */
  reset(): void
}

/** A metric that only grows. */
export interface Counter<Label extends string = string> extends Metric<Label> {
  /** Adds 1, or the given amount, which must not be negative. */
  inc(...args: WithLabels<Label, [amount?: number]>): void
}

/** A metric that grows and shrinks. */
export interface Gauge<Label extends string = string> extends Metric<Label> {
  set(...args: WithLabels<Label, [value: number]>): void
  /** Adds 1, or the given amount, which may be negative. */
  inc(...args: WithLabels<Label, [amount?: number]>): void
}

/** A metric that counts observations by size. */
export interface Histogram<Label extends string = string> extends Metric<Label> {
  observe(...args: WithLabels<Label, [value: number]>): void
}

/** Any metric, whatever its labels. */
export type AnyMetric = Metric<never> | Metric

/**
 * Defines a counter. Pure: list it in the `metrics` of `defineOperator` to show it. By convention its name ends with
 * `_total`.
 *
 * @example const synced = counter('synced_total', { help: 'Number of syncs.', labels: ['team'] })
 * synced.inc({ team: 'web' })
 */
export function counter<const Label extends string = never>(
  name: string,
  options: MetricOptions<Label>,
): Counter<Label> {
  return new OwnMetric({ name, type: 'counter', ...options }) as unknown as Counter<Label>
}

/** Defines a gauge. Pure: list it in the `metrics` of `defineOperator` to show it. */
export function gauge<const Label extends string = never>(name: string, options: MetricOptions<Label>): Gauge<Label> {
  return new OwnMetric({ name, type: 'gauge', ...options }) as unknown as Gauge<Label>
}

/** Defines a histogram. Pure: list it in the `metrics` of `defineOperator` to show it. */
export function histogram<const Label extends string = never>(
  name: string,
  options: HistogramOptions<Label>,
): Histogram<Label> {
  return new OwnMetric({ name, type: 'histogram', buckets: defaultBuckets, ...options }) as unknown as Histogram<Label>
}

const families = new WeakMap<AnyMetric, MetricFamily>()

/** The series of a metric. Throws a TypeError for a value that this module did not make. */
export function familyOf(metric: AnyMetric): MetricFamily {
  const family = families.get(metric)
  if (family === undefined) {
    throw new TypeError('Cannot include a metric that was not made with counter(), gauge() or histogram()')
  }
  return family
}

const none: MetricLabels = Object.freeze({})

// The interfaces restrict which methods a metric has, and their arguments.
class OwnMetric {
  readonly definition: MetricDefinition
  readonly #family: MetricFamily
  readonly #hasLabels: boolean

  constructor(definition: MetricDefinition) {
    this.definition = Object.freeze(checkDefinition(definition))
    this.#family = new MetricFamily(this.definition)
    this.#hasLabels = (definition.labels ?? []).length > 0
    families.set(this as unknown as AnyMetric, this.#family)
  }

  inc(...args: readonly unknown[]): void {
    const [labels, amount = 1] = this.#split(args)
    if (this.definition.type === 'counter' && !(amount >= 0)) {
      throw new RangeError(`Cannot add ${amount} to counter "${this.definition.name}": counters only grow`)
    }
    this.#family.of(labels).value += amount
  }

  set(...args: readonly unknown[]): void {
    const [labels, value = 0] = this.#split(args)
    this.#family.of(labels).value = value
  }

  observe(...args: readonly unknown[]): void {
    const [labels, value = 0] = this.#split(args)
    this.#family.observe(labels, value)
  }

  value(labels: MetricLabels = none): number {
    const series = this.#family.find(labels)
    if (series === undefined) return 0
    return this.definition.type === 'histogram' ? series.counts.reduce((sum, count) => sum + count, 0) : series.value
  }

  remove(labels: MetricLabels = none): void {
    this.#family.remove(labels)
  }

  reset(): void {
    this.#family.clear()
  }

  #split(args: readonly unknown[]): [labels: MetricLabels, amount: number | undefined] {
    const [first, second] = args
    return this.#hasLabels ? [first as MetricLabels, second as number | undefined] : [none, first as number | undefined]
  }
}
