import { isUnauthorized } from '@kubewright/api'
import {
  AsyncDisposer,
  type Awaitable,
  createLogger,
  createMetricRegistry,
  type FlagTable,
  type FlagValues,
  type Logger,
  type MetricRegistry,
  measureProcess,
  uuid,
  wantsColors,
} from '@kubewright/base'
import type { Operator } from '../define/define-operator.ts'
import { resolveLeaseTiming } from '../leases/lease-timing.ts'
import { createManager } from '../manager/create-manager.ts'
import type { Manager } from '../manager/manager.ts'
import { managerMetrics } from '../manager/manager-metrics.ts'
import { accessOf } from '../rbac/operator-access.ts'
import { watchAccess } from '../rbac/watch-access.ts'
import { createHealthChecks } from '../serving/health/health-checks.ts'
import { createLogSink, type LogSinkOptions } from '../telemetry/logging/create-log-sink.ts'
import { errorWithCause } from '../telemetry/logging/log-value.ts'
import { measureRequests } from '../telemetry/metrics/measure-requests.ts'
import { ActivityTracer } from '../telemetry/tracing/activity-tracer.ts'
import { traceRequests } from '../telemetry/tracing/trace-requests.ts'
import { noTracer, type Tracer } from '../telemetry/tracing/tracer.ts'
import { needsWebhooks, webhookRunnable } from '../webhook/start-webhooks.ts'
import { cacheCheck } from './cache-check.ts'
import { limitRequests } from './limit-requests.ts'
import { checkOwnFlags, isHelpRequest, type RunSettings, readOwnFlags, readSettings, runHelp } from './run-flags.ts'
import type { HostConnection, HostConnectOptions, RunHost } from './run-host.ts'
import { serverParts } from './server-parts.ts'

/** Options of `run`. */
export interface RunOptions<T extends FlagTable = FlagTable> {
  /** Flags of the operator's own, such as `{ region: { value: 'NAME', default: 'eu', help: 'Use this region' } }`. @default none */
  readonly flags?: T | undefined
  /**
   * Returns the operator for the values of `flags`. It must have the name of the operator that is given to `run`, from which
   * tools derive the manifests.
   */
  configure?(values: FlagValues<T>): Awaitable<Operator>
  /** @default no tracing */
  readonly tracer?: Tracer | undefined
  /** A registry with the program's own metrics, to which those of the manager are added. @default a new one */
  readonly metrics?: MetricRegistry | undefined
  /** Whether to measure the duration and size of requests to the API server. @default false */
  readonly requestDetails?: boolean | undefined
  /** Called with the manager before it starts, for example to add parts. */
  readonly onManager?: ((manager: Manager) => void) | undefined
}

/** The exit code of a program: 0 after a requested stop, 1 after a failure, 2 for invalid flags or environment. */
export type ExitCode = 0 | 1 | 2

/**
 * Runs an operator with a given host: does everything that `run` does, without using the process. Resolves with the
 * exit code. A failure is reported in one line.
 */
export async function runWith(given: Operator, host: RunHost, options: RunOptions = {}): Promise<ExitCode> {
  const { flags = {} } = options
  checkOwnFlags(flags)
  if (isHelpRequest(host.args)) {
    host.out(runHelp(given, flags))
    return 0
  }
  let operator = given
  let settings: RunSettings
  try {
    settings = readSettings(host.args, host.env, flags)
    operator = await configured(given, options, host.args)
    if (operator.leaderElection !== false) {
      resolveLeaseTiming({ ...operator.leaderElection, ...settings.lease }, `operator "${operator.name}"`)
    }
  } catch (error) {
    host.note(`${operator.name}: ${oneLine(errorWithCause(error))}`)
    host.note(`See ${operator.name} --help`)
    return 2
  }
  const stop = new AbortController()
  const log = createLogger(createLogSink(sinkOptions(host, settings)))
  const signals = host.onStopSignal((signal) => {
    // The second signal ends the process at once.
    if (stop.signal.aborted) return host.exit(1)
    log.info('Stopping', { signal })
    stop.abort()
  })
  const disposer = new AsyncDisposer()
  try {
    await work(operator, { host, settings, log, options, disposer, signal: stop.signal })
    return 0
  } catch (error) {
    // Reported once: in the log when it is JSON, otherwise as a plain line.
    if (formatOf(host, settings) === 'json') log.error(error, 'Problem running the operator')
    else host.note(`${operator.name}: ${failureText(error)}`)
    return 1
  } finally {
    stop.abort()
    await disposer[Symbol.asyncDispose]()
    signals[Symbol.dispose]()
  }
}

async function configured(given: Operator, options: RunOptions, args: readonly string[]): Promise<Operator> {
  if (options.configure === undefined) return given
  const operator = await options.configure(readOwnFlags(options.flags ?? {}, args))
  if (operator.name === given.name) return operator
  throw new TypeError(
    `Cannot run operator "${given.name}" as 'configure' returned one named "${operator.name}": names of roles and Leases are derived from it`,
  )
}

interface Work {
  readonly host: RunHost
  readonly settings: RunSettings
  readonly log: Logger
  readonly options: RunOptions
  readonly disposer: AsyncDisposer
  readonly signal: AbortSignal
}

async function work(given: Operator, context: Work): Promise<void> {
  const { host, settings, log, options, disposer, signal } = context
  const { clock, random } = host
  const { metrics = createMetricRegistry() } = options
  const tracer = new ActivityTracer(options.tracer ?? noTracer, clock)
  const operator = adjusted(given, settings)
  metrics.define(managerMetrics)
  if (host.process) disposer.use(measureProcess(metrics, { process: host.process, clock }))

  const connection = await connect(operator, context, metrics, tracer)
  disposer.use(connection.api)
  const { api } = connection
  const namespace = settings.podNamespace ?? connection.namespace
  const replica = settings.podName ?? host.hostname
  log.info('Using cluster', { operator: operator.name, config: connection.source, namespace })

  const health = createHealthChecks({
    clock,
    onFailure: (check, error) => log.debug('Health check failed', { check, reason: errorWithCause(error) }),
  })
  const manager = createManager({
    operator,
    client: api,
    clock,
    random,
    log,
    metrics,
    health,
    tracer,
    namespace,
    identity: `${replica}_${uuid(random)}`,
    gracefulTimeout: settings.gracefulTimeout,
  })

  const hasWebhooks = settings.webhooks.enabled && needsWebhooks(operator)
  const access = watchAccess({
    api,
    access: accessOf(operator, {
      secureMetrics: settings.metrics.address !== undefined && settings.metrics.secure,
      managedCertificates: hasWebhooks && !settings.webhooks.certificate && settings.webhooks.url === undefined,
    }),
    namespaces: operator.namespaces,
    ownNamespace: namespace,
    clock,
    log: log.withName('rbac'),
    signal,
  })
  health.addReadiness(access.check)
  // Lists may need this process to convert their objects, so readiness must not depend on them.
  if (operator.conversions.length === 0) health.addReadiness(cacheCheck({ cache: manager.cluster.cache, clock }))
  disposer.defer(() => access.done)

  for (const part of serverParts({ host, settings, log, manager, metrics, api, health, access })) manager.add(part)
  if (hasWebhooks) {
    const { port, certificate, url } = settings.webhooks
    const reached = url !== undefined ? { url } : certificate ? { folder: certificate } : { selfManaged: { namespace } }
    const serving = { client: api, port, http2: settings.http2, listen: host.listenForWebhooks, ...reached }
    manager.add(webhookRunnable(operator, { ...serving, clock, metrics, tracer, health }))
  }
  options.onManager?.(manager)
  await manager.start({ signal })
}

/** Applies flags and environment to the operator. */
function adjusted(operator: Operator, settings: RunSettings): Operator {
  const { leaderElection: own, cache } = operator
  const { namespaces = operator.namespaces, leaderElect } = settings
  // --leader-elect keeps the options of the operator's definition.
  const chosen = leaderElect === undefined ? own : leaderElect && (own || {})
  const leaderElection = chosen && { ...chosen, ...settings.lease }
  const cached = settings.namespaces === undefined ? cache : { ...cache, namespaces: undefined }
  return { ...operator, namespaces, leaderElection, cache: cached }
}

/** Loads the configuration of the cluster. Sends no request yet. */
function connect(
  { name }: Operator,
  { host, settings, log, options }: Work,
  metrics: MetricRegistry,
  tracer: Tracer,
): Promise<HostConnection> {
  const { kubeconfig } = settings
  return host.connect({
    kubeconfig,
    // Becomes the default field manager of writes.
    userAgent: `${name}/kubewright`,
    // Lists without a namespace cover all namespaces.
    listNamespace: '',
    onResponse: measureRequests(metrics, { details: options.requestDetails ?? false }),
    around: inside(traceRequests(tracer), settings.requests && limitRequests(settings.requests, host.clock)),
    onWarning: (warning) => log.warn('Warning from the API server', { warning }),
  })
}

type Around = NonNullable<HostConnectOptions['around']>

/** The time that a request waits for the limit is not part of its trace. */
function inside(trace: Around, limit: Around | undefined): Around {
  return limit === undefined ? trace : (request, call) => limit(request, () => trace(request, call))
}

function formatOf(host: RunHost, { log: { format } }: RunSettings): 'json' | 'pretty' {
  return format ?? (host.isTerminal ? 'pretty' : 'json')
}

function sinkOptions(host: RunHost, settings: RunSettings): LogSinkOptions {
  const { level, stackTraces } = settings.log
  const chosen = formatOf(host, settings)
  const color = chosen === 'pretty' && wantsColors({ isTTY: host.isTerminal }, host.env)
  // At a terminal, stack traces are shown only at debug level: the last line names the error.
  const wantsStacks = stackTraces && (chosen === 'json' || level === 'error' || level > 0)
  return { clock: host.clock, write: host.note, format: chosen, level, color, stackTraces: wantsStacks }
}

/** The message of a failure. Adds the fix when the API server rejected the credentials. */
function failureText(error: unknown): string {
  const text = oneLine(errorWithCause(error))
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isUnauthorized(cause))
      return `${text}: the cluster rejected the credentials. Log in again, or use other credentials`
  }
  return text
}

/** Joins several lines to one, separated by semicolons where a line has no punctuation. */
const oneLine = (text: string): string =>
  text.replaceAll(/([^\s\w)"'\]}]?)\s*\n\s*/g, (_, sign: string) => `${sign || ';'} `)
