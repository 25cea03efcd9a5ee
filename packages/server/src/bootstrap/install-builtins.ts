import { type AggregationOptions, installAggregation } from '../aggregation/install-aggregation.ts'
import type { ServerParts } from '../api-server.ts'
import { DiscoveryIndex } from '../discovery/discovery-index.ts'
import { discoveryPaths } from '../discovery/discovery-paths.ts'
import { rootPaths } from '../discovery/root-paths.ts'
import { kubernetesVersion, versionPath } from '../discovery/version-path.ts'
import { type AuditSink, auditLog } from '../http/filters/audit-log.ts'
import { type InFlightLimits, maxInFlight } from '../http/filters/max-in-flight.ts'
import { requestLog } from '../http/filters/request-log.ts'
import { requestTimeout } from '../http/filters/request-timeout.ts'
import type { HealthChecks } from '../http/health/health-checks.ts'
import { healthPaths } from '../http/health/health-paths.ts'
import { standardChecks } from '../http/health/standard-checks.ts'
import { metricsPath } from '../http/metrics/metrics-path.ts'
import { ServerMetrics } from '../http/metrics/server-metrics.ts'
import { OpenApiDocuments } from '../openapi/openapi-documents.ts'
import { openApiPaths } from '../openapi/openapi-paths.ts'
import { builtinAdmission } from '../plugins/builtin-admission.ts'
import { type BootstrapOptions, bootstrap } from './bootstrap.ts'
import { followFlowSchemas } from './flow-schema-conditions.ts'

/** What bootstrap does, under the names that the checks for it have in a kube-apiserver. */
const startHooks = [
  'poststarthook/start-system-namespaces-controller',
  'poststarthook/scheduling/bootstrap-system-priority-classes',
  'poststarthook/priority-and-fairness-config-producer',
  'poststarthook/bootstrap-controller',
  'poststarthook/kube-apiserver-autoregistration',
  'autoregister-completion',
]

/** What {@link installBuiltins} takes. */
export interface BuiltinOptions extends BootstrapOptions {
  /** How many requests are served at once. */
  readonly inFlight?: InFlightLimits
  /** How requests reach extension servers. */
  readonly aggregation?: AggregationOptions
  /** Told about every request. @default nobody */
  readonly audit?: AuditSink
}

/** What {@link installBuiltins} gives back for those that add to it. */
export interface InstalledBuiltins {
  readonly health: HealthChecks
  readonly discovery: DiscoveryIndex
  readonly metrics: ServerMetrics
}

/**
 * Turns a server with resources into one that clients take for a kube-apiserver: discovery, version and health, the built-in admission
 * plugins, and the objects that every cluster has. To be called in the server's setup, after the resources have been set.
 */
export async function installBuiltins(parts: ServerParts, options: BuiltinOptions = {}): Promise<InstalledBuiltins> {
  const { registry, clock, resources, log } = parts
  const health = standardChecks({ store: registry.store, feed: registry.feed, clock })
  const discovery = new DiscoveryIndex(resources)
  const openApi = new OpenApiDocuments({ resources, discovery, gitVersion: kubernetesVersion })
  const otherPaths = (): readonly string[] => [
    ...health.paths(),
    '/.well-known/openid-configuration',
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/',
    '/openid/v1/jwks',
    '/version',
  ]
  const metrics = new ServerMetrics(parts)
  const apiServices = installAggregation(parts, discovery, {
    ...options.aggregation,
    frontProxy: options.frontProxy,
  })
  parts.filters.push(
    metrics.filter,
    requestLog(clock, log),
    ...(options.audit ? [auditLog(options.audit, clock)] : []),
    maxInFlight(options.inFlight),
    requestTimeout(clock),
  )
  parts.paths.push(
    metricsPath(metrics),
    discoveryPaths(discovery),
    openApiPaths(openApi, clock),
    versionPath(),
    healthPaths(health, log),
    rootPaths(discovery, otherPaths),
  )
  parts.admission.push(...builtinAdmission(parts))
  const gates = startHooks.map((name) => health.addGate(name))
  health.add('shutdown', () => {
    if (parts.signal.aborted) throw new Error('process is shutting down')
  }, ['readyz'])
  await bootstrap(parts, options)
  for (const open of gates) open()
  apiServices.start()
  followFlowSchemas(parts).catch((error: unknown) => {
    if (!parts.signal.aborted) log.error(error, 'Cannot follow FlowSchemas')
  })
  return { health, discovery, metrics }
}
