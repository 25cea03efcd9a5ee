/** Labels of a metric, by name. */
export type MetricLabels = Readonly<Record<string, string>>

/**
 * Where measurements go: a registry implements it. Names are the full Prometheus names, labels are passed as the same frozen object
 * for each series, so that an implementation may use them as a key.
 */
export interface MetricSink {
  /** Adds to a counter. */
  add(name: string, labels: MetricLabels, amount: number): void
  /** Sets a gauge. */
  set(name: string, labels: MetricLabels, value: number): void
  /** Adds an observation to a histogram. */
  observe(name: string, labels: MetricLabels, value: number): void
}
