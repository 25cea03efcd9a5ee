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

/** What controllers measure: controller-runtime's names, and two of our own (conflicts, hot loops). */
export const controllerMetrics: readonly MetricDefinition[] = Object.freeze([
  define(names.total, 'counter', 'Reconciles that ended, by controller and result.', ['controller', 'result']),
  define(names.errors, 'counter', 'Reconciles that failed, by controller.', perController),
  define(names.terminalErrors, 'counter', 'Reconciles that failed and are not retried, by controller.', perController),
  define(
    names.panics,
    'counter',
    'Reconciles that failed through a mistake in the program, by controller.',
    perController,
  ),
  define(
    names.timeouts,
    'counter',
    'Reconciles that took longer than they are allowed to, by controller.',
    perController,
  ),
  define(
    names.conflicts,
    'counter',
    'Reconciles that met a newer object and are repeated, by controller.',
    perController,
  ),
  define(
    names.hotLoops,
    'counter',
    'Keys that were found to be reconciled over and over, by controller.',
    perController,
  ),
  define(names.seconds, 'histogram', 'How long reconciles took, by controller.', perController, reconcileBuckets),
  define(names.maxConcurrent, 'gauge', 'How many reconciles may run at once, by controller.', perController),
  define(names.active, 'gauge', 'How many reconciles are running, by controller.', perController),
])

const perQueue = ['name', 'controller']
const queueBuckets = exponentialBuckets(10e-9, 10, 12)

/** What work queues measure. The depth of a queue without priorities has no `priority`. */
export const workQueueMetrics: readonly MetricDefinition[] = Object.freeze([
  define(workQueueMetricNames.depth, 'gauge', 'Keys that are ready, by queue and priority.', [...perQueue, 'priority']),
  define(workQueueMetricNames.adds, 'counter', 'Keys that were added, by queue.', perQueue),
  define(
    workQueueMetricNames.queueDuration,
    'histogram',
    'How long keys were ready before they were taken, by queue.',
    perQueue,
    queueBuckets,
  ),
  define(
    workQueueMetricNames.workDuration,
    'histogram',
    'How long keys were worked on, by queue.',
    perQueue,
    queueBuckets,
  ),
  define(
    workQueueMetricNames.unfinishedWork,
    'gauge',
    'How long all keys in process have been there, added up, by queue. It keeps growing when work hangs.',
    perQueue,
  ),
  define(
    workQueueMetricNames.longestRunning,
    'gauge',
    'How long the oldest key in process has been there, by queue.',
    perQueue,
  ),
  define(workQueueMetricNames.retries, 'counter', 'Keys that were added for later, by queue.', perQueue),
])

const perInformer = ['name', 'group', 'version', 'resource', 'namespace']
const perHandler = [...perInformer, 'handler']

/** What informers measure. */
export const informerMetrics: readonly MetricDefinition[] = Object.freeze([
  define(informerMetricNames.queuedItems, 'gauge', 'Changes that wait to be stored, by informer.', perInformer),
  define(
    informerMetricNames.storeResourceVersion,
    'gauge',
    'The resource version that the store has reached, by informer.',
    perInformer,
  ),
  define(informerMetricNames.storeObjects, 'gauge', 'Objects in the store, by informer.', perInformer),
  define(
    informerMetricNames.storeBytes,
    'gauge',
    'Bytes that are allocated for the encoded objects of the store, by informer.',
    perInformer,
  ),
  define(informerMetricNames.handlerPending, 'gauge', 'Changes that wait for a handler, by handler.', perHandler),
  define(informerMetricNames.handlerLag, 'histogram', 'How long changes waited for a handler, by handler.', perHandler),
  define(
    informerMetricNames.handlerCoalesced,
    'counter',
    'Changes that were joined with an earlier one of the same object, by handler.',
    perHandler,
  ),
  define(informerMetricNames.handlerErrors, 'counter', 'Calls of a handler that failed, by handler.', perHandler),
  define(
    informerMetricNames.relists,
    'counter',
    'Lists that replaced the content of the store, by informer.',
    perInformer,
  ),
  define(informerMetricNames.failures, 'counter', 'Lists and watches that failed, by informer.', perInformer),
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
// A reconcile that ends with a terminal error counts as an error, as with controller-runtime.
const results = ['success', 'error', 'requeue', 'requeue_after', 'conflict'] as const

/** Reports one controller to a sink. Everything it can count is there, at zero, from the start. */
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
