export {
  type AnyMetric,
  acceptedFormat,
  type Counter,
  counter,
  createMetricRegistry,
  defaultBuckets,
  type ExpositionFormat,
  exponentialBuckets,
  expositionTypes,
  type Gauge,
  gauge,
  type Histogram,
  type HistogramOptions,
  histogram,
  type LabelValues,
  type MeasuredProcess,
  type MeasureProcessOptions,
  type Metric,
  type MetricDefinition,
  type MetricLabels,
  type MetricOptions,
  type MetricRegistry,
  type MetricSink,
  measureProcess,
  UsageError,
} from '@kubewright/base'
export { applyDelta, Change, type DeletedObject, joinChanges } from './cache/informer/change.ts'
export { clientListWatch, type FindAbsence } from './cache/informer/client-list-watch.ts'
export type { DeleteInfo, EventHandler, UpdateInfo } from './cache/informer/event-handler.ts'
export { informerMetricNames } from './cache/informer/informer-metrics.ts'
export { type Projected, type ProjectedKind, project } from './cache/informer/projection.ts'
export {
  type HandlerOptions,
  type HandlerRegistration,
  SharedInformer,
  type SharedInformerOptions,
} from './cache/informer/shared-informer.ts'
export {
  type InformerLease,
  type InformerScope,
  SharedInformerFactory,
  type SharedInformerFactoryOptions,
} from './cache/informer/shared-informer-factory.ts'
export { type Delta, DeltaFifo, type DeltaFifoOptions, type DeltaTarget } from './cache/reflector/delta-fifo.ts'
export type {
  Absence,
  ListPage,
  ListPageOptions,
  ListWatch,
  WatchEvent,
  WatchOptions,
} from './cache/reflector/list-watch.ts'
export { Reflector, type ReflectorOptions } from './cache/reflector/reflector.ts'
export type { ReflectedResource, ReflectorHealth } from './cache/reflector/reflector-health.ts'
export type { IndexFunction } from './cache/store/index-buckets.ts'
export { Indexer, type IndexerOptions, type StoreStats } from './cache/store/indexer.ts'
export type { Item } from './cache/store/item.ts'
export { Lister, type NamespaceLister } from './cache/store/lister.ts'
export type { Store, StoreQuery } from './cache/store/store.ts'
export { cachedClientMetrics } from './cluster/cached-client-metrics.ts'
export type { Cluster, Clusters } from './cluster/cluster.ts'
export { type CachedClient, type CachedClientOptions, createCachedClient } from './cluster/create-cached-client.ts'
export { type ClusterOptions, createCluster } from './cluster/create-cluster.ts'
export { createObjectCache, type KindCacheOptions, type ObjectCacheOptions } from './cluster/create-object-cache.ts'
export type { CacheContents, CachedStore, CacheLease, CacheScope, ObjectCache } from './cluster/object-cache.ts'
export type { OutsideSelection, StoreSelection } from './cluster/selection.ts'
export type { FieldCondition, StoredQuery } from './cluster/stored-query.ts'
export { type AccessRule, type AccessVerb, can } from './controller/access-rule.ts'
export { controllerMetrics, informerMetrics, workQueueMetrics } from './controller/controller-metrics.ts'
export type { ControllerParts } from './controller/controller-parts.ts'
export { type ControllerRunner, createControllerRunner, type ReconcileRecord } from './controller/controller-runner.ts'
export type { WatchObjects, WatchSelection } from './controller/dynamic-watches.ts'
export type { HotLoopOptions } from './controller/hot-loop-detector.ts'
export {
  type ClusterChoice,
  defineKeyController,
  type KeyContext,
  type KeyController,
  type KeyControllerOptions,
  type KeyOutcome,
  type KeyReconciler,
} from './controller/key-controller.ts'
export { type KeyType, keyType } from './controller/key-type.ts'
export {
  type FailureOptions,
  ReconcileError,
  RetryLater,
  type RetryLaterOptions,
  TerminalError,
} from './controller/reconcile-errors.ts'
export { type ChannelSource, type ChannelSourceOptions, channelSource } from './controller/sources/channel-source.ts'
export {
  type ClusterSourceOptions,
  clusterKey,
  clusterSource,
  parseClusterKey,
} from './controller/sources/cluster-source.ts'
export {
  type ForOwnerOptions,
  forObject,
  forOwner,
  type KeyMapping,
  type MapContext,
  mapTo,
} from './controller/sources/key-mapping.ts'
export { type KindSourceOptions, kindSource } from './controller/sources/kind-source.ts'
export type { Predicate } from './controller/sources/predicate.ts'
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
} from './controller/sources/predicates.ts'
export type { KeySink, RunningSource, Source } from './controller/sources/source.ts'
export { type TimerSourceOptions, timerSource } from './controller/sources/timer-source.ts'
export type { AnyWebhook } from './define/any-webhook.ts'
export type { ClusterHost, ClusterProvider } from './define/cluster-provider.ts'
export type {
  Adoption,
  ApplyChildOptions,
  Context,
  EventOptions,
  FailureOutcome,
  Outcome,
  StatusParts,
} from './define/context.ts'
export { type ConvertibleObject, convertObject } from './define/convert-object.ts'
export {
  type AdmissionOptions,
  type AdmissionResult,
  type AdmissionResultOptions,
  type AdmissionWebhook,
  type AdmittedObject,
  allowed,
  defineAdmission,
  denied,
  patched,
  type RawReview,
} from './define/define-admission.ts'
export {
  type Controller,
  type ControllerOf,
  type ControllerOptions,
  defineController,
} from './define/define-controller.ts'
export {
  type Conversion,
  type Converted,
  defineConversion,
  type Spoke,
  type SpokeConversion,
  type SpokeOf,
  spoke,
} from './define/define-conversion.ts'
export {
  defineOperator,
  isKeyController,
  type LeaderElectionOptions,
  type Operator,
  type OperatorOptions,
  type ShardingOptions,
} from './define/define-operator.ts'
export {
  type AccessAnswer,
  type AccessDecision,
  type AccessReview,
  type AccessReviewOptions,
  type AccessReviewWebhook,
  defineAccessReview,
  defineTokenReview,
  type ReviewedUser,
  type TokenReview,
  type TokenReviewOptions,
  type TokenReviewWebhook,
  type TokenUser,
} from './define/define-reviews.ts'
export {
  defineWebhook,
  type IssuePath,
  type Issues,
  type Review,
  type Webhook,
  type WebhookOf,
  type WebhookOptions,
  type WebhookRegistrationOptions,
} from './define/define-webhook.ts'
export { type DefinitionsOptions, definitionsOf } from './define/definitions-of.ts'
export { duplicate, forbidden, type Issue, invalid, notSupported, required, warning } from './define/issue.ts'
export { type KubeconfigSecretsOptions, kubeconfigSecrets } from './define/kubeconfig-secrets.ts'
export {
  type CachedKindOptions,
  type CheckContext,
  cached,
  type OperatorCacheOptions,
  type OperatorCheck,
  type OperatorChecks,
  type OperatorHandler,
  type OperatorHandlers,
  type OperatorRequest,
} from './define/operator-settings.ts'
export type { Runnable, RunnableContext, RunnablePhase } from './define/runnable.ts'
export { type ThroughOptions, through } from './define/through.ts'
export {
  type LabelSelection,
  type OwnedKind,
  type OwnedKindOptions,
  owned,
  type Watch,
  type WatchKindOptions,
  watch,
} from './define/watched-kinds.ts'
export type { WebhookOperation, WebhookRegistration } from './define/webhook-registration.ts'
export type { RuleOperation, WebhookRuleOptions } from './define/webhook-rule.ts'
export { type DependentsOptions, defineDependents } from './dependents/define-dependents.ts'
export {
  type Dependent,
  type DependentContext,
  type DependentOptions,
  dependent,
  dependentLabel,
} from './dependents/dependent.ts'
export type { DependentState, ReadDependents } from './dependents/dependents-run.ts'
export { isReady } from './dependents/is-ready.ts'
export { runtimeErrorCodes } from './error-codes.ts'
export {
  type ChangeContext,
  type DaemonContext,
  defineHandlers,
  type HandlersOptions,
} from './handlers/define-handlers.ts'
export { LeaderElector, type LeaderElectorOptions } from './leases/election/leader-elector.ts'
export { gatedClient, gatedCluster } from './leases/gated-client.ts'
export { apiLeaseStore, type LeaseCall, type LeaseStore } from './leases/lease-store.ts'
export { type LeaseTiming, type LeaseTimingOptions, resolveLeaseTiming } from './leases/lease-timing.ts'
export { NotLeaderError } from './leases/not-leader-error.ts'
export { createSharding } from './leases/sharding/create-sharding.ts'
export type { Sharding, ShardingParts } from './leases/sharding/sharding.ts'
export type { KeyGate, KeyHold, WriteGate } from './leases/write-gate.ts'
export { createManager } from './manager/create-manager.ts'
export type { EngageOptions, ManagedClusters, Manager, ManagerOptions, ManagerState } from './manager/manager.ts'
export { managerMetrics } from './manager/manager-metrics.ts'
export { metricsServerHandler } from './manager/metrics-server-handler.ts'
export type { WorkQueueOptions } from './queue/base-queue.ts'
export type { Cause, CountedCause } from './queue/cause.ts'
export { lowPriority, PriorityQueue, type PriorityQueueOptions } from './queue/priority-queue.ts'
export type {
  AddOptions,
  Queue,
  QueuedKey,
  QueueSnapshot,
  ShutDownOptions,
  ShutDownReport,
  Taken,
} from './queue/queue.ts'
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
  type RateLimiterFactory,
  withJitter,
  withMaxWait,
} from './queue/rate-limiter.ts'
export { WorkQueue } from './queue/work-queue.ts'
export { workQueueMetricNames } from './queue/work-queue-metrics.ts'
export { type AccessOptions, accessOf, type OperatorAccess, rulesOf } from './rbac/operator-access.ts'
export { mergeRules, type PolicyRule } from './rbac/policy-rule.ts'
export { describeMissing, type MissingAccess, type PreflightOptions, preflight } from './rbac/preflight.ts'
export { type AccessWatch, type WatchAccessOptions, watchAccess } from './rbac/watch-access.ts'
export { generateOnce } from './reconcile/generate-once.ts'
export { objectController } from './reconcile/object-controller.ts'
export { objectMetricNames, objectMetrics } from './reconcile/object-metrics.ts'
export { type CacheCheckOptions, cacheCheck } from './run/cache-check.ts'
export { type ConfigFileFlag, configFile } from './run/config-file.ts'
export {
  type ControllerCommand,
  type DebugOptions,
  type DebugReport,
  debugHandler,
  debugReport,
} from './run/debug-handler.ts'
export { type RunHook, run, runHookSymbol } from './run/run.ts'
export { operatorFlags, runHelp } from './run/run-flags.ts'
export type { HostConnection, HostConnectOptions, RunHost, StopSignal } from './run/run-host.ts'
export { type ExitCode, type RunOptions, runWith } from './run/run-with.ts'
export { systemRunHost } from './run/system-run-host.ts'
export {
  type CertificateFiles,
  type CertificateFilesOptions,
  certificateFiles,
} from './serving/certificates/certificate-files.ts'
export { type CertificateRules, certificateRules } from './serving/certificates/certificate-rules.ts'
export {
  type ManageCertificatesOptions,
  type ManagedCertificates,
  manageCertificates,
} from './serving/certificates/manage-certificates.ts'
export type { TrustTargets } from './serving/certificates/trust-targets.ts'
export type { HealthCheck, HealthChecks } from './serving/health/health-check.ts'
export {
  createHealthChecks,
  type HealthChecksOptions,
  type HealthReport,
  type ServedHealthChecks,
} from './serving/health/health-checks.ts'
export { type BindAddress, parseBindAddress } from './serving/http/bind-address.ts'
export { certificateSource, type MutableCertificateSource } from './serving/http/certificate-source.ts'
export {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  isLoopback,
  textResponse,
} from './serving/http/http-handler.ts'
export type {
  CertificateSource,
  HttpListener,
  Listening,
  ListenOptions,
  ServingCertificate,
} from './serving/http/http-listener.ts'
export { type MemoryHttpListener, memoryHttpListener } from './serving/http/memory-http-listener.ts'
export type { Profiler } from './serving/http/profiler.ts'
export { type RequireAccessOptions, requireAccess } from './serving/http/require-access.ts'
export { selfSignedCertificate } from './serving/http/self-signed-certificate.ts'
export { systemHttpListener } from './serving/http/system-http-listener.ts'
export { metricsHandler } from './serving/metrics-handler.ts'
export { createEventRecorder, type EventRecorderOptions } from './telemetry/events/create-event-recorder.ts'
export { eventMetricName, eventMetrics } from './telemetry/events/event-metrics.ts'
export type { EventNote, EventRecorder } from './telemetry/events/event-recorder.ts'
export { createLogSink, type LogSinkOptions } from './telemetry/logging/create-log-sink.ts'
export { type LogLevel, parseLogLevel } from './telemetry/logging/log-level.ts'
export { type MeasureRequestsOptions, measureRequests } from './telemetry/metrics/measure-requests.ts'
export {
  certificateMetrics,
  leaderElectionMetrics,
  restClientDetailMetrics,
  restClientMetrics,
  webhookMetrics,
} from './telemetry/metrics/runtime-metrics.ts'
export { ActivityTracer, type TracedCall, type TracedRequest } from './telemetry/tracing/activity-tracer.ts'
export {
  type OpenTelemetryApi,
  type OpenTelemetrySpan,
  type OpenTelemetryTracerOptions,
  openTelemetryTracer,
} from './telemetry/tracing/open-telemetry-tracer.ts'
export { traceRequests } from './telemetry/tracing/trace-requests.ts'
export { noTracer, type Span, type SpanAttributes, type SpanOptions, type Tracer } from './telemetry/tracing/tracer.ts'
export {
  type CheckConversionOptions,
  type ConversionLoss,
  type ConversionReport,
  checkConversion,
  conversionLosses,
} from './webhook/conversion/check-conversion.ts'
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
export type { WebhookHandler, WebhookRequest, WebhookResponse } from './webhook/webhook-request.ts'
