import type { AnyKind } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'
import type { ControllerRunner, ReconcileRecord } from '../controller/controller-runner.ts'
import { isKeyController, type Operator } from '../define/define-operator.ts'
import type { Manager } from '../manager/manager.ts'
import type { QueuedKey, QueueSnapshot } from '../queue/queue.ts'
import type { MissingAccess } from '../rbac/preflight.ts'
import {
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
  isLoopback,
  textResponse,
} from '../serving/http/http-handler.ts'
import type { Profiler } from '../serving/http/profiler.ts'
import { errorWithCause, jsonOf, stackFrames } from '../telemetry/logging/log-value.ts'
import { ActivityTracer } from '../telemetry/tracing/activity-tracer.ts'
import type { TracedLine } from '../telemetry/tracing/copying-logger.ts'
import { profileHandler } from './profile-handler.ts'

/** Options of {@link debugHandler}. */
export interface DebugOptions {
  readonly manager: Pick<Manager, 'operator' | 'describe' | 'runners' | 'cluster' | 'clusters'> &
    Partial<Pick<Manager, 'tracer'>>
  readonly clock: Clock
  /** The missing permissions of the operator, if known. */
  readonly missingAccess?: (() => readonly MissingAccess[] | undefined) | undefined
  /** Serves profiles at `/debug/profile` and `/debug/heap`. @default no profiles */
  readonly profiler?: Profiler | undefined
  /** Which requests are allowed. @default requests from the loopback interface with a local host name */
  readonly mayLook?: ((request: HttpRequest) => boolean) | undefined
}

// The maximum number of keys shown per queue; the total is shown as well.
const maxKeys = 500
const jsonHeaders = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
}

/**
 * Serves the state of a manager as JSON: all of it at `/debug/kubewright`, or one part below it, such as
 * `/debug/kubewright/queues`. Shows keys and error messages, but no objects. With a profiler it also serves
 * `/debug/profile?seconds=N` and `/debug/heap`; a heap snapshot contains objects, including Secrets. Only requests from
 * the loopback interface with a local Host header are allowed, so that a web page cannot read it through a user's
 * browser.
 *
 * A POST to `/debug/kubewright/controllers/NAME/pause`, `step` or `resume` controls the workers of a controller. Requests
 * that a web page could send are refused: those with an Origin header, and those that are not JSON.
 */
export function debugHandler(options: DebugOptions): HttpHandler {
  const { mayLook = isLocalRequest, profiler, clock } = options
  const profiles = profiler && profileHandler(profiler, clock)
  return (request) => {
    if (!mayLook(request))
      return textResponse(403, 'Only requests from this machine are allowed: use kubectl port-forward\n')
    if (request.method === 'POST') return control(options.manager.runners, request)
    if (request.method !== 'GET' && request.method !== 'HEAD') return textResponse(405, 'Method Not Allowed\n')
    if (profiles && /^\/debug\/(profile|heap)$/.test(request.path)) return profiles(request)
    const match = /^\/debug\/kubewright(?:\/([a-z]+))?\/?$/.exec(request.path)
    const part = match?.[1]
    const value = match && (part === undefined ? debugReport(options) : partOf(options, part))
    if (!value) return textResponse(404, '404 page not found\n')
    return {
      status: 200,
      headers: jsonHeaders,
      body: `${jsonOf(value)}\n`,
    }
  }
}

/** A command for the workers of a controller, as {@link ControllerRunner} describes it. */
export type ControllerCommand = 'pause' | 'step' | 'resume'

const controllerPath = /^\/debug\/kubewright\/controllers\/([^/]+)\/(pause|step|resume)$/

function control(runners: readonly ControllerRunner[], { path, headers }: HttpRequest): HttpResponse {
  const [, name, command] = controllerPath.exec(path) ?? []
  if (command === undefined) return textResponse(405, 'Method Not Allowed\n')
  // Browsers send Origin with each POST, and need permission of the server for a content type other than that of a form.
  if (headers['origin'] !== undefined || headers['content-type'] !== 'application/json')
    return textResponse(403, 'Requests of web pages are not allowed: send JSON without an Origin header\n')
  const runner = runners.find((one) => one.name === name)
  if (runner === undefined) return textResponse(404, `There is no controller "${name}"\n`)
  runner[command as ControllerCommand]()
  return { status: 200, headers: jsonHeaders, body: `${jsonOf({ paused: runner.isPaused })}\n` }
}

/** The state of a manager at one moment, as JSON values. */
export interface DebugReport {
  /** RFC 3339. */
  readonly time: string
  readonly operator: object | null
  readonly manager: object
  readonly controllers: readonly object[]
  readonly queues: readonly object[]
  readonly caches: readonly object[]
  /**
   * The last reconciles of all controllers, newest first. Each has the `requests` that it sent and the lines of its `log`,
   * if a report was read within 30 seconds before it and the manager's tracer is an {@link ActivityTracer}, as that of `run`.
   */
  readonly reconciles: readonly object[]
  /** The last calls of webhooks that this process served, newest first, under the same condition. */
  readonly calls: readonly object[]
  readonly access: object
}

/** Captures the state of a manager. */
export function debugReport(options: DebugOptions): DebugReport {
  const { manager, clock } = options
  const activity = manager.tracer instanceof ActivityTracer ? manager.tracer : undefined
  activity?.watch()
  return {
    time: new Date(clock.now()).toISOString(),
    operator: manager.operator === undefined ? null : describeOperator(manager.operator),
    manager: manager.describe(),
    controllers: manager.runners.map(describeRunner),
    queues: manager.runners.map((runner) => describeQueue(runner.queue())),
    caches: [manager.cluster, ...manager.clusters].flatMap(describeCaches(manager.operator)),
    reconciles: manager.runners
      .flatMap((runner) => runner.recent())
      .sort((a, b) => b.startedAt - a.startedAt)
      .map((record) => describeReconcile(record, activity)),
    calls: activity?.calls.map(withTime) ?? [],
    access: { missing: options.missingAccess?.() ?? null },
  }
}

function partOf(options: DebugOptions, part: string): unknown {
  const report: Readonly<Record<string, unknown>> = { ...debugReport(options) }
  return Object.hasOwn(report, part) ? { [part]: report[part] } : undefined
}

const local = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/

function isLocalRequest(request: HttpRequest): boolean {
  return isLoopback(request) && local.test(request.headers['host'] ?? 'localhost')
}

const kindText = ({ apiVersion, kind }: AnyKind): string => `${apiVersion} ${kind}`

function describeOperator(operator: Operator): object {
  const { name, controllers, webhooks, namespaces, leaderElection, sharding } = operator
  return {
    name,
    namespaces,
    leaderElection,
    sharding,
    controllers: controllers.map((controller) => ({
      name: controller.name,
      kind: controller.kind && kindText(controller.kind),
      concurrency: controller.concurrency,
      ...(isKeyController(controller)
        ? { sources: controller.sources.map((source) => source.name) }
        : {
            owns: controller.owns.map((owned) => kindText(owned.kind)),
            watches: controller.watches.map((watch) => kindText(watch.kind)),
            finalizer: controller.cleanup ? controller.finalizer : null,
          }),
    })),
    webhooks: webhooks.map(({ name, kind }) => ({ name, ...(kind && { kind: kindText(kind) }) })),
  }
}

function describeRunner(runner: ControllerRunner): object {
  const { name, needsLeader, isPaused } = runner
  return { name, needsLeader, isPaused, problems: runner.problems() }
}

function describeQueue({ name, ready, waiting, processing, shuttingDown }: QueueSnapshot): object {
  const keys = (list: readonly QueuedKey[]): object => ({ count: list.length, keys: list.slice(0, maxKeys) })
  return { name, shuttingDown, ready: keys(ready), waiting: keys(waiting), processing: keys(processing) }
}

function describeCaches(operator: Operator | undefined): (cluster: Cluster) => object[] {
  const kinds = (operator?.controllers ?? []).flatMap((controller) => {
    if (isKeyController(controller)) return controller.kind ? [controller.kind] : []
    return [controller.kind, ...[...controller.owns, ...controller.watches].map(({ kind }) => kind)]
  })
  return ({ name: cluster, cache }) => {
    const stores = [...new Set(kinds)].map((kind) => {
      const store = cache.peek(kind)
      return { cluster, kind: kindText(kind), objects: store?.size ?? null, ...statsOf(store) }
    })
    return [...stores, ...[...cache.health].map(([watch, health]) => ({ cluster, watch, ...health }))]
  }
}

/** The memory use of stores that hold encoded objects. */
function statsOf(store: unknown): object {
  const stats = (store as { readonly stats?: unknown } | undefined)?.stats
  return typeof stats === 'object' && stats !== null ? { stats } : {}
}

function describeReconcile({ error, ...record }: ReconcileRecord, activity: ActivityTracer | undefined): object {
  const requests = activity?.requestsOf(record.reconcileID)?.map(withTime)
  const log = activity?.linesOf(record.reconcileID)?.map(describeLine)
  return {
    ...withTime(record),
    ...(error === undefined ? {} : { error: errorWithCause(error), stack: stackFrames(error) }),
    ...(requests === undefined ? {} : { requests }),
    ...(log === undefined ? {} : { log }),
  }
}

function describeLine({ time, level, message, values, ...line }: TracedLine & { readonly time: number }): object {
  const error = 'error' in line ? { error: errorWithCause(line.error) } : {}
  return { time: new Date(time).toISOString(), level, message, values, ...error }
}

function withTime<T extends { readonly startedAt: number }>(entry: T): Omit<T, 'startedAt'> & { startedAt: string } {
  return { ...entry, startedAt: new Date(entry.startedAt).toISOString() }
}
