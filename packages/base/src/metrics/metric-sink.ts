/** Labels of a metric, by name. */
export type MetricLabels = Readonly<Record<string, string>>

/**
 * Receives measurements; a registry implements it. Names are full Prometheus names. Callers pass the same frozen labels object for
 * each measurement of a series, so that an implementation may use it as a key.
 */
export interface MetricSink {
  /** Adds to a counter. */
  add(name: string, labels: MetricLabels, amount: number): void
  /** Sets a gauge. */
  set(name: string, labels: MetricLabels, value: number): void
  /** Adds an observation to a histogram. */
  observe(name: string, labels: MetricLabels, value: number): void
}
