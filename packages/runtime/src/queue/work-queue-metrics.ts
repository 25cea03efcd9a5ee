import type { MetricLabels, MetricSink } from '@kubewright/base'

/** The names under which queues are measured: those of client-go and controller-runtime. Durations are in seconds. */
export const workQueueMetricNames: {
  readonly depth: 'workqueue_depth'
  readonly adds: 'workqueue_adds_total'
  readonly queueDuration: 'workqueue_queue_duration_seconds'
  readonly workDuration: 'workqueue_work_duration_seconds'
  readonly unfinishedWork: 'workqueue_unfinished_work_seconds'
  readonly longestRunning: 'workqueue_longest_running_processor_seconds'
  readonly retries: 'workqueue_retries_total'
} = Object.freeze({
  depth: 'workqueue_depth',
  adds: 'workqueue_adds_total',
  queueDuration: 'workqueue_queue_duration_seconds',
  workDuration: 'workqueue_work_duration_seconds',
  unfinishedWork: 'workqueue_unfinished_work_seconds',
  longestRunning: 'workqueue_longest_running_processor_seconds',
  retries: 'workqueue_retries_total',
})

// Priorities beyond this many share one label value, as in controller-runtime, so that a queue cannot flood a registry.
const maxPriorityLabels = 25

/** Reports one queue to a sink. Without a sink every call returns at once. */
export class WorkQueueMetrics {
  readonly #sink: MetricSink | undefined
  readonly #labels: MetricLabels
  // Keys by priority, or by the empty text for queues without priorities.
  readonly #depths = new Map<string, { count: number; readonly labels: MetricLabels }>()

  constructor(sink: MetricSink | undefined, name: string) {
    this.#sink = sink
    this.#labels = Object.freeze({ name, controller: name })
  }

  added(): void {
    this.#sink?.add(workQueueMetricNames.adds, this.#labels, 1)
  }

  retried(): void {
    this.#sink?.add(workQueueMetricNames.retries, this.#labels, 1)
  }

  /** The number of ready keys changed. */
  depth(change: number, priority?: number): void {
    if (this.#sink === undefined) return
    const depth = this.#depthOf(priority === undefined ? '' : String(priority))
    depth.count += change
    this.#sink.set(workQueueMetricNames.depth, depth.labels, depth.count)
  }

  /** A key was taken after being ready for so many milliseconds. */
  taken(waited: number): void {
    this.#sink?.observe(workQueueMetricNames.queueDuration, this.#labels, waited / 1000)
  }

  /** The work on a key took so many milliseconds. */
  finished(worked: number): void {
    this.#sink?.observe(workQueueMetricNames.workDuration, this.#labels, worked / 1000)
  }

  /** The times, in milliseconds, for which the keys in process have been there. */
  running(ages: readonly number[]): void {
    if (this.#sink === undefined) return
    const sum = ages.reduce((total, age) => total + age, 0)
    const longest = ages.reduce((most, age) => Math.max(most, age), 0)
    this.#sink.set(workQueueMetricNames.unfinishedWork, this.#labels, sum / 1000)
    this.#sink.set(workQueueMetricNames.longestRunning, this.#labels, longest / 1000)
  }

  #depthOf(priority: string): { count: number; readonly labels: MetricLabels } {
    const known = this.#depths.get(priority)
    if (known !== undefined) return known
    const overflow = 'exceeded_cardinality_limit'
    if (priority !== overflow && this.#depths.size >= maxPriorityLabels) return this.#depthOf(overflow)
    const labels: MetricLabels = Object.freeze(priority === '' ? { ...this.#labels } : { ...this.#labels, priority })
    const depth = { count: 0, labels }
    this.#depths.set(priority, depth)
    return depth
  }
}
