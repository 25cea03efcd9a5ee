import { exponentialBuckets, type MetricDefinition, type MetricLabels, type MetricSink } from '@kubewright/base'
import { informerMetricNames } from '../cache/informer/informer-metrics.ts'
import { workQueueMetricNames } from '../queue/work-queue-metrics.ts'
import type { ReconcileRecord } from './controller-runner.ts'

const names = {
  total: 'controller_runtime_reconcile_total',
  errors: 'controller_runtime_reconcile_errors_total',
  terminalErrors: 'controller_runtime_terminal_reconcile_errors_total',
  panics: 'controller_runtime_reconcile_panics_total',
  timeouts: 'controller_runtime_reconcile_timeouts_total',
  conflicts: 'kubewright_reconcile_conflicts_total',
  hotLoops: 'kubewright_hot_loops_total',
  seconds: 'controller_runtime_reconcile_time_seconds',
  maxConcurrent: 'controller_runtime_max_concurrent_reconciles',
  active: 'controller_runtime_active_workers',
} as const

const reconcileBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
]

const define = (
  name: string,
  type: MetricDefinition['type'],
  help: string,
  labels: readonly string[],
  buckets?: readonly number[],
): MetricDefinition => Object.freeze({ name, type, help, labels, ...(buckets === undefined ? {} : { buckets }) })

const perController = ['controller']

/** The metrics of controllers: controller-runtime's names, and two of our own for conflicts and hot loops. */
export const controllerMetrics: readonly MetricDefinition[] = Object.freeze([
  define(names.total, 'counter', 'Number of reconciles, by controller and result.', ['controller', 'result']),
  define(names.errors, 'counter', 'Number of failed reconciles, by controller.', perController),
  define(
    names.terminalErrors,
    'counter',
    'Number of failed reconciles that are not retried, by controller.',
    perController,
  ),
  define(
    names.panics,
    'counter',
    'Number of reconciles that failed by a programming error, by controller.',
    perController,
  ),
  define(names.timeouts, 'counter', 'Number of reconciles that exceeded their timeout, by controller.', perController),
  define(
    names.conflicts,
    'counter',
    'Number of reconciles that are retried because of a conflict, by controller.',
    perController,
  ),
  define(names.hotLoops, 'counter', 'Number of detected hot loops, by controller.', perController),
  define(
    names.seconds,
    'histogram',
    'Duration of reconciles in seconds, by controller.',
    perController,
    reconcileBuckets,
  ),
  define(names.maxConcurrent, 'gauge', 'Maximum number of concurrent reconciles, by controller.', perController),
  define(names.active, 'gauge', 'Number of running reconciles, by controller.', perController),
])

const perQueue = ['name', 'controller']
const queueBuckets = exponentialBuckets(10e-9, 10, 12)

/** The metrics of work queues. The depth of a queue without priorities has an empty `priority` label. */
export const workQueueMetrics: readonly MetricDefinition[] = Object.freeze([
  define(workQueueMetricNames.depth, 'gauge', 'Number of ready keys, by queue and priority.', [
    ...perQueue,
    'priority',
  ]),
  define(workQueueMetricNames.adds, 'counter', 'Number of added keys, by queue.', perQueue),
  define(
    workQueueMetricNames.queueDuration,
    'histogram',
    'Time from a key being ready to being taken, in seconds, by queue.',
    perQueue,
    queueBuckets,
  ),
  define(
    workQueueMetricNames.workDuration,
    'histogram',
    'Duration of the work on a key, in seconds, by queue.',
    perQueue,
    queueBuckets,
  ),
  define(
    workQueueMetricNames.unfinishedWork,
    'gauge',
    'Sum of the ages of all keys in process, in seconds, by queue. Grows steadily when work hangs.',
    perQueue,
  ),
  define(
    workQueueMetricNames.longestRunning,
    'gauge',
    'Age of the oldest key in process, in seconds, by queue.',
    perQueue,
  ),
  define(workQueueMetricNames.retries, 'counter', 'Number of keys added with a delay, by queue.', perQueue),
])

const perInformer = ['name', 'group', 'version', 'resource', 'namespace']
const perHandler = [...perInformer, 'handler']

/** The metrics of informers. */
export const informerMetrics: readonly MetricDefinition[] = Object.freeze([
  define(
    informerMetricNames.queuedItems,
    'gauge',
    'Number of changes that wait to be stored, by informer.',
    perInformer,
  ),
  define(
    informerMetricNames.storeResourceVersion,
    'gauge',
    'Resource version that the store has reached, by informer.',
    perInformer,
  ),
  define(informerMetricNames.storeObjects, 'gauge', 'Number of objects in the store, by informer.', perInformer),
  define(
    informerMetricNames.storeBytes,
    'gauge',
    'Bytes allocated for the encoded objects of the store, by informer.',
    perInformer,
  ),
  define(
    informerMetricNames.handlerPending,
    'gauge',
    'Number of changes that wait for the handler, by handler.',
    perHandler,
  ),
  define(
    informerMetricNames.handlerLag,
    'histogram',
    'Time that changes waited for the handler, in seconds, by handler.',
    perHandler,
  ),
  define(
    informerMetricNames.handlerCoalesced,
    'counter',
    'Number of changes that were joined with an earlier change of the same object, by handler.',
    perHandler,
  ),
  define(informerMetricNames.handlerErrors, 'counter', 'Number of failed handler calls, by handler.', perHandler),
  define(
    informerMetricNames.relists,
    'counter',
    'Number of lists that replaced the content of the store, by informer.',
    perInformer,
  ),
  define(informerMetricNames.failures, 'counter', 'Number of failed lists and watches, by informer.', perInformer),
])

const counters = [
  names.errors,
  names.terminalErrors,
  names.panics,
  names.timeouts,
  names.conflicts,
  names.hotLoops,
] as const
type Counter = 'errors' | 'terminalErrors' | 'panics' | 'timeouts' | 'conflicts' | 'hotLoops'
// A terminal error counts as an error, as in controller-runtime.
const results = ['success', 'error', 'requeue', 'requeue_after', 'conflict'] as const

/** Reports the metrics of one controller. All its counters exist, at zero, from the start. */
export class ControllerMetrics {
  readonly #sink: MetricSink
  readonly #labels: MetricLabels
  readonly #results: Readonly<Record<ReconcileRecord['result'] | 'requeue', MetricLabels>>

  constructor(sink: MetricSink, controller: string, concurrency: number) {
    this.#sink = sink
    this.#labels = Object.freeze({ controller })
    const of = (result: (typeof results)[number]): MetricLabels => Object.freeze({ controller, result })
    const error = of('error')
    this.#results = {
      success: of('success'),
      error,
      terminal_error: error,
      requeue: of('requeue'),
      requeue_after: of('requeue_after'),
      conflict: of('conflict'),
    }
    for (const labels of Object.values(this.#results)) sink.add(names.total, labels, 0)
    for (const name of counters) sink.add(name, this.#labels, 0)
    sink.set(names.maxConcurrent, this.#labels, concurrency)
    this.active(0)
  }

  active(count: number): void {
    this.#sink.set(names.active, this.#labels, count)
  }

  ended(result: ReconcileRecord['result'], millis: number): void {
    this.#sink.add(names.total, this.#results[result], 1)
    this.#sink.observe(names.seconds, this.#labels, millis / 1000)
  }

  count(counter: Counter): void {
    this.#sink.add(names[counter], this.#labels, 1)
  }
}
