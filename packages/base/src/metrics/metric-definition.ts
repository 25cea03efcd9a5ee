import { defineBudget } from '../budget.ts'
/** Describes a metric. Registries write it in front of the measurements; tools check dashboards and rules against it. */
export interface MetricDefinition {
  /** The full Prometheus name. */
  readonly name: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** One sentence for the reader of the metric. */
  readonly help: string
  /** The names of its labels, in the order in which they are shown. @default none */
  readonly labels?: readonly string[] | undefined
  /** The upper bounds of a histogram's buckets, ascending, without the infinite one. @default {@link defaultBuckets} */
  readonly buckets?: readonly number[] | undefined
  /**
   * How many series the metric may have. Measurements with further labels share one series in which every label is `other`, so that no
   * caller can exhaust memory with label values. @default {@link defaultMaxSeries}
   */
  readonly maxSeries?: number | undefined
}

/** How many series a metric may have, unless its definition says otherwise. */
export const defaultMaxSeries: number = defineBudget(20_000, {
  group: 'server',
  what: 'series of one metric',
  option: '`maxSeries` of the definition',
  answer: 'counted in one series with `other` in every label',
  kubernetes: 'no limit',
})

/** Prometheus' usual buckets: 5 ms to 10 s. */
export const defaultBuckets: readonly number[] = Object.freeze([
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
])

/** `count` bounds, each `factor` times the one before: computed step by step, so that the texts of the bounds equal those of Go. */
export function exponentialBuckets(start: number, factor: number, count: number): readonly number[] {
  const buckets: number[] = []
  for (let bound = start; buckets.length < count; bound *= factor) buckets.push(bound)
  return Object.freeze(buckets)
}
