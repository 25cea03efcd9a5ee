import type { MetricLabels, MetricSink } from '@kubewright/base'

/** The metric names of informers. The first two are client-go's. */
export const informerMetricNames: {
  readonly queuedItems: 'informer_queued_items'
  readonly storeResourceVersion: 'informer_store_resource_version'
  readonly storeObjects: 'kubewright_informer_store_objects'
  readonly storeBytes: 'kubewright_informer_store_bytes'
  readonly handlerPending: 'kubewright_informer_handler_pending'
  readonly handlerLag: 'kubewright_informer_handler_lag_seconds'
  readonly handlerCoalesced: 'kubewright_informer_handler_coalesced_total'
  readonly handlerErrors: 'kubewright_informer_handler_errors_total'
  readonly relists: 'kubewright_informer_relists_total'
  readonly failures: 'kubewright_informer_failures_total'
} = Object.freeze({
  queuedItems: 'informer_queued_items',
  storeResourceVersion: 'informer_store_resource_version',
  storeObjects: 'kubewright_informer_store_objects',
  storeBytes: 'kubewright_informer_store_bytes',
  handlerPending: 'kubewright_informer_handler_pending',
  handlerLag: 'kubewright_informer_handler_lag_seconds',
  handlerCoalesced: 'kubewright_informer_handler_coalesced_total',
  handlerErrors: 'kubewright_informer_handler_errors_total',
  relists: 'kubewright_informer_relists_total',
  failures: 'kubewright_informer_failures_total',
})

/** The metric sink and labels of one informer. */
export interface InformerMetrics {
  readonly sink: MetricSink | undefined
  readonly labels: MetricLabels
}
