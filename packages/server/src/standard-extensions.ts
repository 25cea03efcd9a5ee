import { CaughtError, type Defined } from '@kubewright/base'
import { type Aggregation, type AggregationOptions, createAggregation } from './aggregation/create-aggregation.ts'
import type { ServerExtensions, ServerParts } from './api-server.ts'
import { type BootstrapOptions, bootstrap } from './bootstrap/bootstrap.ts'
import { followFlowSchemas } from './bootstrap/flow-schema-conditions.ts'
import { keepFlowControl } from './bootstrap/keep-flow-control.ts'
import type { AuditPolicy } from './config/audit-policy.ts'
import { DiscoveryIndex } from './discovery/discovery-index.ts'
import { discoveryPaths } from './discovery/discovery-paths.ts'
import { rootPaths } from './discovery/root-paths.ts'
import { versionPath } from './discovery/version-path.ts'
import { Auditor, type AuditSink, metadataPolicy } from './http/audit/auditor.ts'
import { type InFlightLimits, maxInFlight } from './http/filters/max-in-flight.ts'
import { maxLongRunning } from './http/filters/max-long-running.ts'
import { requestLog } from './http/filters/request-log.ts'
import { requestTimeout } from './http/filters/request-timeout.ts'
import { sizeLimits } from './http/filters/size-limits.ts'
import { FlowControl } from './http/flow-control/flow-control.ts'
import { followFlowControl } from './http/flow-control/follow-flow-control.ts'
import type { HealthChecks } from './http/health/health-checks.ts'
import { healthPaths } from './http/health/health-paths.ts'
import { standardChecks } from './http/health/standard-checks.ts'
import { metricsPath } from './http/metrics/metrics-path.ts'
import { ServerMetrics } from './http/metrics/server-metrics.ts'
import { openApiPaths } from './openapi/openapi-paths.ts'
import type { BodyLimits } from './request/body.ts'
import type { ListLimits } from './request/list-limits.ts'
import type { RequestContext } from './request/request-context.ts'

/**
 * The health checks of kube-apiserver that pass once the server is set up, in its order. Left out are the hooks of the identity Lease, which
 * have no counterpart in this package.
 */
const startChecks = [
  'poststarthook/start-apiserver-admission-initializer',
  'poststarthook/generic-apiserver-start-informers',
  'poststarthook/priority-and-fairness-config-consumer',
  'poststarthook/priority-and-fairness-filter',
  'poststarthook/storage-object-count-tracker-hook',
  'poststarthook/start-apiextensions-informers',
  'poststarthook/start-apiextensions-controllers',
  'poststarthook/crd-informer-synced',
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/start-cluster-authentication-info-controller',
  'poststarthook/start-legacy-token-tracking-controller',
  'poststarthook/start-service-ip-repair-controllers',
  'poststarthook/rbac/bootstrap-roles',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/start-kubernetes-service-cidr-controller',
  'poststarthook/start-kube-aggregator-informers',
  'poststarthook/apiservice-status-local-available-controller',
  'poststarthook/apiservice-status-remote-available-controller',
  'poststarthook/apiservice-registration-controller',
  'poststarthook/apiservice-discovery-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
  'poststarthook/apiservice-openapi-controller',
  'poststarthook/apiservice-openapiv3-controller',
]

/** Limits of requests and responses. The page docs/reference/limits.md lists them all. */
export interface ServerLimits {
  /** Limits concurrent requests. */
  readonly inFlight?: InFlightLimits | undefined
  /** Limits the watches and other long-running requests of one user. @default 5000 */
  readonly watchesPerUser?: number | undefined
  /** Limits request bodies, except those to extension servers. */
  readonly body?: BodyLimits | undefined
  /** Limits list responses. */
  readonly list?: ListLimits | undefined
}

/** Options of {@link standardExtensions}. */
export interface StandardOptions {
  /** The limits of requests and responses. */
  readonly limits?: ServerLimits | undefined
  /** Whether FlowSchemas and priority levels decide which requests run first. @default true */
  readonly flowControl?: boolean | undefined
  /** Where audit events go and what they record. @default no events */
  readonly audit?: AuditOptions | undefined
  /** How the server connects to extension servers. @default as to webhooks */
  readonly aggregation?: AggregationOptions | undefined
  /** The address and the certificates that the server publishes in the objects of every cluster. */
  readonly published?: Omit<BootstrapOptions, 'clusterIpRange'> | undefined
  /**
   * Whether the store contains the objects of every cluster, because another server has created them with the same
   * options. The server then neither creates nor completes them. @default false
   */
  readonly isBootstrapped?: boolean | undefined
}

/** The audit log of a server. */
export interface AuditOptions {
  readonly sink: AuditSink
  /** What is recorded. @default the metadata of every request, when it is complete */
  readonly policy?: AuditPolicy | undefined
}

/** The extensions of every kube-apiserver. */
export interface StandardExtensions
  extends Defined<Pick<ServerExtensions, 'filters' | 'paths'>>,
    Pick<ServerExtensions, 'auditor'> {
  readonly discovery: DiscoveryIndex
}

/**
 * Creates the filters and paths of a kube-apiserver (discovery, OpenAPI, version, health, metrics, aggregation) and the objects that
 * every cluster has. To be called in the server's setup, after its built-in resources have been registered.
 */
export async function standardExtensions(
  parts: ServerParts,
  options: StandardOptions & Pick<BootstrapOptions, 'clusterIpRange'> = {},
): Promise<StandardExtensions> {
  const { registry, resources, clock, log } = parts
  const { facts: release } = resources.release
  const { inFlight, watchesPerUser, body, list } = options.limits ?? {}
  const health = standardChecks({ store: registry.store, feed: registry.feed, clock })
  const discovery = new DiscoveryIndex(resources)
  const metrics = new ServerMetrics(parts)
  const aggregation = createAggregation(parts, discovery, {
    ...options.aggregation,
    frontProxy: options.published?.frontProxy,
  })
  await start(parts, health, aggregation, options)
  const flowControl = options.flowControl === false ? undefined : await startFlowControl(parts, metrics, inFlight)
  return {
    discovery,
    auditor:
      options.audit && new Auditor({ sink: options.audit.sink, policy: options.audit.policy ?? metadataPolicy, clock }),
    filters: [
      metrics.filter,
      requestLog(clock, log),
      maxInFlight(inFlight),
      maxLongRunning(watchesPerUser),
      requestTimeout(clock),
      ...(flowControl ? [flowControl.filter] : []),
      ...(body || list ? [sizeLimits(body, list)] : []),
    ],
    paths: [
      aggregation.paths,
      metricsPath(metrics),
      ...(flowControl ? [flowControl.paths] : []),
      discoveryPaths(discovery),
      openApiPaths({ resources, discovery, release }, clock),
      versionPath(release),
      healthPaths(health, log),
      rootPaths(discovery, () => [...health.paths(), ...unlistedPaths]),
    ],
  }
}

/** The seats of a server without limits of requests in flight. */
const unlimitedSeats = 1_000_000

async function startFlowControl(
  parts: ServerParts,
  metrics: ServerMetrics,
  { readOnly = 400, mutating = 200 }: InFlightLimits = {},
): Promise<FlowControl> {
  const { resources, registry, clock } = parts
  const objectCount = ({ info, request }: RequestContext): number => {
    const resource = resources.find(info.group, info.version, info.resource)
    const stored = resource ? registry.feed.sizeOf(resource.storage.prefix) : 0
    return Math.min(stored, Number(request.query.get('limit')) || stored)
  }
  const seats = Math.min(readOnly + mutating, unlimitedSeats)
  const flowControl = new FlowControl({ clock, metrics: metrics.registry, objectCount }, seats)
  metrics.onRender(() => flowControl.collect())
  await followFlowControl(parts, flowControl)
  keepFlowControl(parts).catch((error: unknown) => {
    if (!parts.signal.aborted) parts.log.error(error, 'Failed to keep the objects of flow control')
  })
  return flowControl
}

/** Paths that the root lists besides those of discovery and health. */
const unlistedPaths = [
  '/.well-known/openid-configuration',
  '/metrics',
  '/openapi/v2',
  '/openapi/v3',
  '/openapi/v3/',
  '/openid/v1/jwks',
  '/version',
]

/** Creates the objects of every cluster and starts the controllers inside the server. Health checks pass when this is done. */
async function start(
  parts: ServerParts,
  health: HealthChecks,
  aggregation: Aggregation,
  options: StandardOptions & Pick<BootstrapOptions, 'clusterIpRange'>,
): Promise<void> {
  // Later steps of the setup, such as RBAC and CRDs, need no gates of their own: the server answers no request before all of them are done.
  const gates = startChecks
    .filter((name) => options.flowControl !== false || !name.includes('/priority-and-fairness-'))
    .map((name) => health.addGate(name))
  health.add('shutdown', () => {
    if (parts.draining.aborted) throw new CaughtError('process is shutting down')
  }, ['readyz'])
  if (!options.isBootstrapped) await bootstrap(parts, { ...options.published, clusterIpRange: options.clusterIpRange })
  for (const open of gates) open()
  aggregation.controller.start()
  followFlowSchemas(parts).catch((error: unknown) => {
    if (!parts.signal.aborted) parts.log.error(error, 'Failed to follow FlowSchemas')
  })
}
