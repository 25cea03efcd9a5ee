import { isUnauthorized } from '@kubewright/api'
import {
  AsyncDisposer,
  createLogger,
  createMetricRegistry,
  type Logger,
  type MetricRegistry,
  measureProcess,
  uuid,
  wantsColors,
} from '@kubewright/base'
import type { Operator } from '../define/define-operator.ts'
import { createManager } from '../manager/create-manager.ts'
import type { Manager } from '../manager/manager.ts'
import { managerMetrics } from '../manager/manager-metrics.ts'
import { accessOf } from '../rbac/operator-access.ts'
import { watchAccess } from '../rbac/watch-access.ts'
import { createHealthChecks } from '../serving/health/health-checks.ts'
import { createLogSink, type LogSinkOptions } from '../telemetry/logging/create-log-sink.ts'
import { errorWithCause } from '../telemetry/logging/log-value.ts'
import { measureRequests } from '../telemetry/metrics/measure-requests.ts'
import { traceRequests } from '../telemetry/tracing/trace-requests.ts'
import { noTracer, type Tracer } from '../telemetry/tracing/tracer.ts'
import { needsWebhooks, webhookRunnable } from '../webhook/start-webhooks.ts'
import { cacheCheck } from './cache-check.ts'
import { asksForHelp, type RunSettings, readSettings, runHelp } from './run-flags.ts'
import type { HostConnection, RunHost } from './run-host.ts'
import { serverParts } from './server-parts.ts'

/** What `run` takes besides the operator. */
export interface RunOptions {
  /** Where spans go. @default nowhere */
  readonly tracer?: Tracer | undefined
  /** A registry that the program has metrics of its own in; the manager's are added to it. @default a new one */
  readonly metrics?: MetricRegistry | undefined
  /** Also measures durations and sizes of requests to the API server. @default false */
  readonly requestDetails?: boolean | undefined
  /** Called with the manager before it starts, to add parts to it. */
  readonly onManager?: ((manager: Manager) => void) | undefined
}

/** What a program ends with: 0 when it was told to stop and did, 1 when it failed, 2 when it was called in a wrong way. */
export type ExitCode = 0 | 1 | 2

/**
 * Runs an operator in a world that is given to it: everything that `run` does, without touching the process. Resolves with the exit
 * code; a failure is told in one line.
 */
export async function runWith(operator: Operator, host: RunHost, options: RunOptions = {}): Promise<ExitCode> {
  if (asksForHelp(host.args)) {
    host.out(runHelp(operator))
    return 0
  }
  let settings: RunSettings
  try {
    settings = readSettings(host.args, host.env)
  } catch (error) {
    host.note(`${operator.name}: ${oneLine(errorWithCause(error))}`)
    host.note(`See ${operator.name} --help`)
    return 2
  }
  const stop = new AbortController()
  const log = createLogger(createLogSink(sinkOptions(host, settings)))
  const signals = host.onStopSignal((signal) => {
    // Whoever asks twice does not want to wait.
    if (stop.signal.aborted) return host.exit(1)
    log.info('Stopping', { signal })
    stop.abort()
  })
  const disposer = new AsyncDisposer()
  try {
    await work(operator, { host, settings, log, options, disposer, signal: stop.signal })
    return 0
  } catch (error) {
    // Said once: as a line of the log where machines read it, else for people.
    if (formatOf(host, settings) === 'json') log.error(error, 'Problem running the operator')
    else host.note(`${operator.name}: ${failureText(error)}`)
    return 1
  } finally {
    stop.abort()
    await disposer[Symbol.asyncDispose]()
    signals[Symbol.dispose]()
  }
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
  const { tracer = noTracer, metrics = createMetricRegistry() } = options
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
  // Lists may need this very process to convert what they return, and it is asked only when it is ready.
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

/** The operator as flags and environment want it. */
function adjusted(operator: Operator, { namespaces = operator.namespaces, leaderElect }: RunSettings): Operator {
  const { leaderElection: own } = operator
  // Saying yes keeps what the operator says about it.
  const leaderElection = leaderElect === undefined ? own : leaderElect && (own || {})
  return { ...operator, namespaces, leaderElection }
}

/** Reads how to reach the cluster. Nothing is asked of it yet. */
function connect(
  { name }: Operator,
  { host, settings, log, options }: Work,
  metrics: MetricRegistry,
  tracer: Tracer,
): Promise<HostConnection> {
  const { kubeconfig } = settings
  return host.connect({
    kubeconfig,
    // What writes without a field manager are recorded under begins with it.
    userAgent: `${name}/kubewright`,
    // Lists without a namespace are about all that the operator may see.
    listNamespace: '',
    onResponse: measureRequests(metrics, { details: options.requestDetails ?? false }),
    around: traceRequests(tracer),
    onWarning: (warning) => log.warn('The API server warns', { warning }),
  })
}

function formatOf(host: RunHost, { log: { format } }: RunSettings): 'json' | 'pretty' {
  return format ?? (host.isTerminal ? 'pretty' : 'json')
}

function sinkOptions(host: RunHost, settings: RunSettings): LogSinkOptions {
  const { level, stackTraces } = settings.log
  const chosen = formatOf(host, settings)
  const color = chosen === 'pretty' && wantsColors({ isTTY: host.isTerminal }, host.env)
  // People see the line that ends the program; where each error was made is for who debugs.
  const wantsStacks = stackTraces && (chosen === 'json' || level === 'error' || level > 0)
  return { clock: host.clock, write: host.note, format: chosen, level, color, stackTraces: wantsStacks }
}

/** What went wrong, with the cure where the API server does not say what it is. */
function failureText(error: unknown): string {
  const text = oneLine(errorWithCause(error))
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (isUnauthorized(cause))
      return `${text}: the cluster does not accept the credentials. Log in again, or use others`
  }
  return text
}

/** Several lines as one, in which a sentence that ends without a sign gets one. */
const oneLine = (text: string): string =>
  text.replaceAll(/([^\s\w)"'\]}]?)\s*\n\s*/g, (_, sign: string) => `${sign || ';'} `)
