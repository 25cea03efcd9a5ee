import type { DraftParts, Kind, KubeObject } from '@kubewright/api'
import { type Awaitable, type Duration, type Logger, toMillis } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { PathOf } from '@kubewright/schema'
import { can } from '../controller/access-rule.ts'
import type { ControllerParts } from '../controller/controller-parts.ts'
import type { Context, Outcome } from '../define/context.ts'
import { type Controller, type ControllerOptions, makeController } from '../define/define-controller.ts'
import { HandledValues } from './handled-values.ts'
import { type HandlerTasks, handlerTasksSource } from './handler-tasks.ts'

// The fields that users write.
type Watched<Read> = Omit<Read, 'apiVersion' | 'kind' | 'status'>

/** The context of a daemon. It outlives reconciles. */
export interface DaemonContext {
  readonly client: Client
  /** Aborted when the object is being deleted or the operator stops. The daemon must then return soon. */
  readonly signal: AbortSignal
  /** The current time of the manager's clock. Test environments with virtual time control it. */
  readonly now: () => Date
  readonly log: Logger
  /** Waits on the manager's clock. Rejects when the signal aborts. */
  readonly sleep: (time: Duration) => Promise<void>
  /** The object as the last reconcile saw it. */
  readonly latest: <T = unknown>() => T
}

/** The context of a handler of changes. */
export interface ChangeContext<Status> extends Context<Status> {
  /** The value that the handler has handled last; undefined on its first call for the object. */
  readonly old: unknown
  /** The value to handle; undefined when the field was removed. */
  readonly value: unknown
}

/** Options of {@link defineHandlers}: those of a controller, with handlers instead of `reconcile`. */
export interface HandlersOptions<Read, Status>
  extends Omit<ControllerOptions<Read, Status>, 'reconcile' | 'cleanup' | 'prune'> {
  /** Called once for each object, also for one that existed before the operator. */
  onCreate?(object: Read, context: Context<DraftParts<Status>>): Awaitable<void>
  /**
   * Called when the field at a path has another value than at the handler's last success, and once for a new object.
   * Changes that follow each other quickly may cause one call.
   */
  readonly onChange?:
    | {
        readonly [P in PathOf<Watched<Read>>]?: (
          object: Read,
          context: ChangeContext<DraftParts<Status>>,
        ) => Awaitable<void>
      }
    | undefined
  /** Called before the object is deleted, until it succeeds. */
  onDelete?(object: Read, context: Context<DraftParts<Status>>): Awaitable<void>
  /** Called at a fixed interval for each object, and once when the operator starts. */
  readonly timers?:
    | Readonly<
        Record<
          string,
          {
            readonly every: Duration
            run(object: Read, context: Context<DraftParts<Status>>): Awaitable<void>
          }
        >
      >
    | undefined
  /** Tasks that run for as long as the object exists. One that fails is started again, with back-off. */
  readonly daemons?: Readonly<Record<string, (object: Read, context: DaemonContext) => Promise<void>>> | undefined
}

/**
 * Defines a controller by handlers of events, for operators that are scripts. Underneath it is level-triggered: the
 * values that handlers have handled are kept in an annotation of the object, so a handler is called until it succeeds,
 * also after a restart, and a change while the operator was down is handled later. Handlers run one after the other and
 * must be idempotent: a crash between a handler and the record of its success repeats the handler.
 */
export function defineHandlers<Read, Write, Status>(
  kind: Kind<Read, Write, Status>,
  options: HandlersOptions<NoInfer<Read>, NoInfer<Status>>,
): Controller {
  const { onCreate, onChange = {}, onDelete, timers = {}, daemons = {}, sources = [], rbac = [], ...rest } = options
  const name = options.name ?? kind.kind.toLowerCase()
  for (const [timer, { every }] of Object.entries(timers)) {
    if (!(toMillis(every) > 0)) {
      throw new RangeError(
        `Cannot define handlers "${name}" as 'every' of timer "${timer}" must be greater than 0: ${every}`,
      )
    }
  }
  const hasTasks = Object.keys(timers).length > 0 || Object.keys(daemons).length > 0
  const annotation = `handlers.kubewright.dev/${name}`
  const runs = new WeakMap<ControllerParts['cluster'], HandlerTasks>()
  type Ctx = Context<DraftParts<Status>>
  type Change = (object: Read, context: ChangeContext<DraftParts<Status>>) => Awaitable<void>

  async function reconcile(read: Read, context: Ctx): Promise<Outcome<DraftParts<Status>>> {
    const object = read as KubeObject
    const handled = new HandledValues(object, annotation)
    const save = (handler: string, value: unknown) => handled.save(context.client, kind, object, handler, value)
    if (onCreate && handled.isDue('create', true)) {
      await onCreate.call(options, read, context)
      await save('create', true)
    }
    for (const [path, handler] of Object.entries(onChange) as [string, Change][]) {
      const value = valueAt(object, path)
      const id = `change ${path}`
      if (!handled.isDue(id, value)) continue
      await handler(read, { ...context, old: handled.old(id), value })
      await save(id, value)
    }
    if (!hasTasks) return {}
    const run = runs.get(context.cluster)
    const tasks = run?.of(object)
    if (run === undefined || tasks === undefined) return {}
    for (const [daemon, start] of Object.entries(daemons)) run.startDaemon(object, daemon, start)
    const requeueAfter = await runTimers(read, context, tasks.due)
    const { failure } = tasks
    tasks.failure = undefined
    if (failure !== undefined) throw failure.error
    return { requeueAfter }
  }

  /** Runs the timers that are due. Returns the time until the next one. */
  async function runTimers(read: Read, context: Ctx, due: Map<string, number>): Promise<number | undefined> {
    let next: number | undefined
    for (const [timer, { every, run }] of Object.entries(timers)) {
      const now = context.now().getTime()
      if ((due.get(timer) ?? now) <= now) {
        await run.call(timers[timer], read, context)
        due.set(timer, context.now().getTime() + toMillis(every))
      }
      next = Math.min(next ?? Infinity, due.get(timer)!)
    }
    return next === undefined ? undefined : Math.max(0, next - context.now().getTime())
  }

  async function cleanup(read: Read, context: Ctx): Promise<void> {
    await runs.get(context.cluster)?.stop(read as KubeObject)
    await onDelete?.call(options, read, context)
  }

  return makeController(kind, {
    ...rest,
    name,
    sources: hasTasks ? [...sources, handlerTasksSource(runs)] : sources,
    rbac: [can(kind, 'patch'), ...rbac],
    reconcile,
    // Timers and daemons end before the object is gone.
    ...(onDelete || hasTasks ? { cleanup } : {}),
  } as ControllerOptions<Read, Status>) as Controller
}

function valueAt(object: object, path: string): unknown {
  return path.split('.').reduce<unknown>((value, field) => {
    return typeof value === 'object' && value !== null && Object.hasOwn(value, field)
      ? (value as Readonly<Record<string, unknown>>)[field]
      : undefined
  }, object)
}
