import type { MetricLabels, MetricSink } from '@kubewright/base'

/** The metric names of queues, as in client-go and controller-runtime. Durations are in seconds. */
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

// Further priorities share one label value, as in controller-runtime, so that a queue cannot create unlimited series.
const maxPriorityLabels = 25

/** Reports the metrics of one queue to a sink. Does nothing without a sink. */
export class WorkQueueMetrics {
  readonly #sink: MetricSink | undefined
  readonly #labels: MetricLabels
  // By priority; the key is empty for queues without priorities.
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

  /** Records a change of the number of ready keys. */
  depth(change: number, priority?: number): void {
    if (this.#sink === undefined) return
    const depth = this.#depthOf(priority === undefined ? '' : String(priority))
    depth.count += change
    this.#sink.set(workQueueMetricNames.depth, depth.labels, depth.count)
  }

  /** Records that a key was taken after `waited` milliseconds in the queue. */
  taken(waited: number): void {
    this.#sink?.observe(workQueueMetricNames.queueDuration, this.#labels, waited / 1000)
  }

  /** Records that the work on a key took `worked` milliseconds. */
  finished(worked: number): void {
    this.#sink?.observe(workQueueMetricNames.workDuration, this.#labels, worked / 1000)
  }

  /** Reports how long, in milliseconds, each key has been in process. */
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
