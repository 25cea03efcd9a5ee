export { applyDelta, Change, type DeletedObject, joinChanges } from './cache/change.ts'
export { type Delta, DeltaFifo, type DeltaFifoOptions, type DeltaTarget } from './cache/delta-fifo.ts'
export type { DeleteInfo, EventHandler, UpdateInfo } from './cache/event-handler.ts'
export type { IndexFunction } from './cache/index-buckets.ts'
export { Indexer, type IndexerOptions, type StoreStats } from './cache/indexer.ts'
export { informerMetricNames } from './cache/informer-metrics.ts'
export type { Item } from './cache/item.ts'
export type { ListPage, ListPageOptions, ListWatch, WatchEvent, WatchOptions } from './cache/list-watch.ts'
export { Lister, type NamespaceLister } from './cache/lister.ts'
export { type Projected, type ProjectedKind, project } from './cache/projection.ts'
export { Reflector, type ReflectorOptions } from './cache/reflector.ts'
export type { ReflectedResource, ReflectorHealth } from './cache/reflector-health.ts'
export {
  type HandlerOptions,
  type HandlerRegistration,
  SharedInformer,
  type SharedInformerOptions,
} from './cache/shared-informer.ts'
export {
  type InformerLease,
  type InformerScope,
  SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from './cache/shared-informer-factory.ts'
export type { Store, StoreQuery } from './cache/store.ts'
export {
  type CertificateFiles,
  type CertificateFilesOptions,
  certificateFiles,
} from './certificates/certificate-files.ts'
export { type CertificateRules, certificateRules } from './certificates/certificate-rules.ts'
export {
  type ManageCertificatesOptions,
  type ManagedCertificates,
  manageCertificates,
} from './certificates/manage-certificates.ts'
export type { TrustTargets } from './certificates/trust-targets.ts'
export { cachedClientMetrics } from './cluster/cached-client-metrics.ts'
export { clientListWatch } from './cluster/client-list-watch.ts'
export type { Cluster } from './cluster/cluster.ts'
export { type CachedClient, type CachedClientOptions, createCachedClient } from './cluster/create-cached-client.ts'
export { type ClusterOptions, createCluster } from './cluster/create-cluster.ts'
export { createObjectCache, type KindCacheOptions, type ObjectCacheOptions } from './cluster/create-object-cache.ts'
export type { CacheContents, CachedStore, CacheLease, CacheScope, ObjectCache } from './cluster/object-cache.ts'
export { type ChannelSource, type ChannelSourceOptions, channelSource } from './controller/channel-source.ts'
export {
  type ClusterSourceOptions,
  clusterKey,
  clusterSource,
  parseClusterKey,
} from './controller/cluster-source.ts'
export { controllerMetrics, informerMetrics, workQueueMetrics } from './controller/controller-metrics.ts'
export type { ControllerParts } from './controller/controller-parts.ts'
export { type ControllerRunner, createControllerRunner, type ReconcileRecord } from './controller/controller-runner.ts'
export type { HotLoopOptions } from './controller/hot-loop-detector.ts'
export {
  defineKeyController,
  type KeyContext,
  type KeyController,
  type KeyControllerOptions,
  type KeyOutcome,
  type KeyReconciler,
} from './controller/key-controller.ts'
export {
  type ForOwnerOptions,
  forObject,
  forOwner,
  type KeyMapping,
  type MapContext,
  mapTo,
} from './controller/key-mapping.ts'
export { type KindSourceOptions, kindSource } from './controller/kind-source.ts'
export type { Predicate } from './controller/predicate.ts'
export {
  and,
  annotationsChanged,
  changed,
  generationChanged,
  labelSelector,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
  when,
} from './controller/predicates.ts'
export { RetryLater, TerminalError } from './controller/reconcile-errors.ts'
export type { KeySink, RunningSource, Source } from './controller/source.ts'
export { type TimerSourceOptions, timerSource } from './controller/timer-source.ts'
export { type CheckConversionOptions, type ConversionReport, checkConversion } from './conversion/check-conversion.ts'
export { type ConvertibleObject, convertObject } from './conversion/convert-object.ts'
export {
  type Conversion,
  type Converted,
  defineConversion,
  type Spoke,
  type SpokeConversion,
  spoke,
} from './conversion/define-conversion.ts'
export { type DebugOptions, type DebugReport, debugHandler, debugReport } from './debug/debug-handler.ts'
export { type AccessRule, type Controller, type ControllerOptions, defineController } from './define-controller.ts'
export {
  defineOperator,
  isKeyController,
  type LeaderElectionOptions,
  type Operator,
  type OperatorOptions,
  type ShardingOptions,
} from './define-operator.ts'
export {
  defineWebhook,
  type IssuePath,
  type Issues,
  type Review,
  type Webhook,
  type WebhookOptions,
  type WebhookRegistrationOptions,
} from './define-webhook.ts'
export { type DefinitionsOptions, definitionsOf } from './definitions-of.ts'
export { gatedClient, gatedCluster } from './election/gated-client.ts'
export { LeaderElector, type LeaderElectorOptions } from './election/leader-elector.ts'
export { apiLeaseStore, type LeaseCall, type LeaseStore } from './election/lease-store.ts'
export { type LeaseTiming, type LeaseTimingOptions, resolveLeaseTiming } from './election/lease-timing.ts'
export { NotLeaderError } from './election/not-leader-error.ts'
export type { KeyGate, KeyHold, WriteGate } from './election/write-gate.ts'
export { runtimeErrorCodes } from './error-codes.ts'
export { createEventRecorder, type EventRecorderOptions } from './events/create-event-recorder.ts'
export { eventMetricName, eventMetrics } from './events/event-metrics.ts'
export type { EventNote, EventRecorder } from './events/event-recorder.ts'
export { type CacheCheckOptions, cacheCheck } from './health/cache-check.ts'
export type { HealthCheck, HealthChecks } from './health/health-check.ts'
export {
  createHealthChecks,
  type HealthChecksOptions,
  type HealthReport,
  type ServedHealthChecks,
} from './health/health-checks.ts'
export { type BindAddress, parseBindAddress } from './http/bind-address.ts'
export { certificateSource, type MutableCertificateSource } from './http/certificate-source.ts'
export { type HttpHandler, type HttpRequest, type HttpResponse, isLoopback, textResponse } from './http/http-handler.ts'
export type {
  CertificateSource,
  HttpListener,
  Listening,
  ListenOptions,
  ServingCertificate,
} from './http/http-listener.ts'
export { type MemoryHttpListener, memoryHttpListener } from './http/memory-http-listener.ts'
export { type RequireAccessOptions, requireAccess } from './http/require-access.ts'
export { selfSignedCertificate } from './http/self-signed-certificate.ts'
export { systemHttpListener } from './http/system-http-listener.ts'
export { duplicate, forbidden, type Issue, invalid, notSupported, required, warning } from './issue.ts'
export { createLogSink, type LogSinkOptions } from './logging/create-log-sink.ts'
export { type LogLevel, parseLogLevel } from './logging/log-level.ts'
export { createManager } from './manager/create-manager.ts'
export type { ManagedClusters, Manager, ManagerOptions, ManagerState } from './manager/manager.ts'
export type { Runnable, RunnableContext, RunnablePhase } from './manager/runnable.ts'
export { acceptedFormat, type ExpositionFormat, expositionTypes } from './metrics/exposition.ts'
export { managerMetrics } from './metrics/manager-metrics.ts'
export { type MeasureRequestsOptions, measureRequests } from './metrics/measure-requests.ts'
export { defaultBuckets, exponentialBuckets, type MetricDefinition } from './metrics/metric-definition.ts'
export { createMetricRegistry, type MetricRegistry } from './metrics/metric-registry.ts'
export { metricsHandler } from './metrics/metrics-handler.ts'
export { type MeasuredProcess, type MeasureProcessOptions, measureProcess } from './metrics/process-metrics.ts'
export {
  certificateMetrics,
  leaderElectionMetrics,
  restClientDetailMetrics,
  restClientMetrics,
  webhookMetrics,
} from './metrics/runtime-metrics.ts'
export { type AccessOptions, accessOf, type OperatorAccess, rulesOf } from './rbac/operator-access.ts'
export { mergeRules, type PolicyRule } from './rbac/policy-rule.ts'
export { describeMissing, type MissingAccess, type PreflightOptions, preflight } from './rbac/preflight.ts'
export { type AccessWatch, type WatchAccessOptions, watchAccess } from './rbac/watch-access.ts'
export type { Adoption, ApplyChildOptions, Context, Outcome } from './reconcile/context.ts'
export { objectController } from './reconcile/object-controller.ts'
export { objectMetricNames, objectMetrics } from './reconcile/object-metrics.ts'
export {
  type LabelSelection,
  type OwnedKind,
  type OwnedKindOptions,
  owned,
  type Watch,
  type WatchKindOptions,
  watch,
} from './reconcile/watched-kinds.ts'
export { UsageError } from './run/flags.ts'
export { type RunHook, run, runHookSymbol } from './run/run.ts'
export { runHelp } from './run/run-flags.ts'
export type { HostConnection, HostConnectOptions, RunHost, StopSignal } from './run/run-host.ts'
export { type ExitCode, type RunOptions, runWith } from './run/run-with.ts'
export { systemRunHost } from './run/system-run-host.ts'
export { createSharding } from './sharding/create-sharding.ts'
export type { Sharding, ShardingParts } from './sharding/sharding.ts'
export {
  type OpenTelemetryApi,
  type OpenTelemetrySpan,
  type OpenTelemetryTracerOptions,
  openTelemetryTracer,
} from './tracing/open-telemetry-tracer.ts'
export { traceRequests } from './tracing/trace-requests.ts'
export { noTracer, type Span, type SpanAttributes, type SpanOptions, type Tracer } from './tracing/tracer.ts'
export {
  conversionPath,
  createWebhookHandler,
  type WebhookHandlerOptions,
} from './webhook/create-webhook-handler.ts'
export { type RegisterLocallyOptions, registerLocally } from './webhook/register-locally.ts'
export { type ServedWebhooks, type ServeWebhooksOptions, serveWebhooks } from './webhook/serve-webhooks.ts'
export {
  type CertificateFolder,
  certificatesOf,
  needsWebhooks,
  type RunningWebhooks,
  type SelfManagedCertificates,
  type StartWebhooksOptions,
  startWebhooks,
  webhookRunnable,
} from './webhook/start-webhooks.ts'
export {
  conversionCrd,
  type WebhookConfigurationOptions,
  type WebhookConfigurations,
  type WebhookOwner,
  type WebhookTarget,
  webhookConfigurations,
} from './webhook/webhook-configurations.ts'
export { webhookMetricNames } from './webhook/webhook-metrics.ts'
export type { WebhookOperation, WebhookRegistration } from './webhook/webhook-registration.ts'
export type { WebhookHandler, WebhookRequest, WebhookResponse } from './webhook/webhook-request.ts'
export type { Cause, CountedCause } from './work-queue/cause.ts'
export type { MetricLabels, MetricSink } from './work-queue/metric-sink.ts'
export { lowPriority, PriorityQueue, type PriorityQueueOptions } from './work-queue/priority-queue.ts'
export type {
  AddOptions,
  Queue,
  QueuedKey,
  QueueSnapshot,
  ShutDownOptions,
  ShutDownReport,
  Taken,
} from './work-queue/queue.ts'
export {
  type BucketOptions,
  bucketRateLimiter,
  defaultRateLimiter,
  type ExponentialOptions,
  type FastSlowOptions,
  itemExponentialRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  type RateLimiter,
  withJitter,
  withMaxWait,
} from './work-queue/rate-limiter.ts'
export { WorkQueue, type WorkQueueOptions } from './work-queue/work-queue.ts'
export { workQueueMetricNames } from './work-queue/work-queue-metrics.ts'
