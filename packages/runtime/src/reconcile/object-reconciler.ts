import {
  type AnyKind,
  formatGroupResource,
  hasFinalizer,
  type Infer,
  isDeleting,
  type KubeObject,
  keyOf,
  parseSelector,
  type Reads,
  type Selector,
  type TypeMeta,
} from '@kubewright/api'
import { deepFreeze, errorText, isKubewrightError, type Logger, type MetricLabels } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { Cluster, Clusters } from '../cluster/cluster.ts'
import type { ControllerParts } from '../controller/controller-parts.ts'
import { classifyFailure, failureStatusOf } from '../controller/failure-class.ts'
import type { KeyContext, KeyOutcome, KeyReconciler } from '../controller/key-controller.ts'
import { ownMembers } from '../controller/own-members.ts'
import { RetryLater } from '../controller/reconcile-errors.ts'
import type { ApplyChildOptions, Context, Outcome } from '../define/context.ts'
import type { Controller } from '../define/define-controller.ts'
import type { CountedCause } from '../queue/cause.ts'
import { explainReadOnly } from '../telemetry/explain-read-only.ts'
import { AppliedFields } from './applied-fields.ts'
import { Children, type OwnedKindInUse } from './children.ts'
import { fieldManagerOf } from './field-manager-of.ts'
import { acquireFinalizer, releaseFinalizer } from './finalizers.ts'
import { objectMetricNames } from './object-metrics.ts'
import type { OwnVersions } from './own-versions.ts'
import { StatusSession, statusChangeOf } from './status-session.ts'
import { type StatusChange, StatusWriter, terminalReason } from './status-writer.ts'

// The watch event that updates the old object reconciles it even sooner.
const waitForWatch = '5s'

/** The key reconciler of an object controller: reads the object of a key and reconciles it. */
export class ObjectReconciler {
  readonly #controller: Controller
  readonly #owns: ReadonlyMap<string, OwnedKindInUse>
  readonly #parts: ControllerParts
  readonly #fieldManager: string
  readonly #selector: Selector | undefined
  readonly #namespaces: ReadonlySet<string> | undefined
  readonly #applied: AppliedFields
  readonly #status: StatusWriter
  readonly #labels: ReadonlyMap<string, MetricLabels>
  readonly #own: OwnVersions | undefined
  /** The uids of the objects with the finalizer that the server has confirmed to this process, by key. */
  readonly #confirmed = new Map<string, string>()

  /** `own` records the versions that the controller writes itself; undefined to reconcile them too. */
  constructor(
    controller: Controller,
    owns: ReadonlyMap<string, OwnedKindInUse>,
    parts: ControllerParts,
    own: OwnVersions | undefined,
  ) {
    const { name, kind, selector, namespaces } = controller
    this.#controller = controller
    this.#owns = owns
    this.#own = own
    this.#parts = parts
    this.#fieldManager = controller.fieldManager ?? fieldManagerOf(parts.operator, name)
    this.#selector = selector === undefined ? undefined : parseSelector(selector)
    this.#namespaces = namespaces && namespaces.length > 0 ? new Set(namespaces) : undefined
    this.#applied = new AppliedFields(this.#fieldManager)
    this.#status = new StatusWriter(kind, parts.clock, this.#fieldManager)
    const results = ['written', 'unchanged', 'refused'].map((result) => [
      result,
      Object.freeze({ controller: name, result }),
    ])
    this.#labels = new Map(results as [string, MetricLabels][])
  }

  /**
   * Reads the object of a key, then either cleans up and removes the finalizer, or adds the finalizer and works. Each step may be the
   * last one before the process dies: the next reconcile repeats it.
   */
  readonly reconcile: KeyReconciler = async (key, context) => {
    const { kind, cleanup, finalizer, reconcileDeleting } = this.#controller
    const { client } = context
    const object = (await client.find(kind, key)) as KubeObject | undefined
    if (object === undefined) this.#confirmed.delete(key)
    if (object === undefined || !this.#concerns(object, context)) return undefined
    if (isDeleting(object) && (!reconcileDeleting || hasFinalizer(object, finalizer))) {
      return this.#finish(object, context)
    }
    if (cleanup === undefined) return this.#work(object, context)
    if (hasFinalizer(object, finalizer)) {
      await this.#confirm(key, object, context)
      return this.#work(object, context)
    }
    // The finalizer comes first, so that everything done outside the cluster will be cleaned up.
    const kept = await this.#acquire(object, context)
    if (kept === undefined) return undefined
    this.#confirmed.set(key, kept.metadata.uid)
    return this.#work(kept, context)
  }

  /**
   * Rejects unless the server still has an object whose finalizer an earlier process added. An initial list from a cache
   * of the server may show an object that was cleaned up and is gone: what its reconcile created outside the cluster
   * would never be cleaned up. Sends one request for each object of such a list, and none after a streamed one.
   */
  async #confirm(key: string, object: KubeObject, context: KeyContext): Promise<void> {
    const { kind } = this.#controller
    const { uid } = object.metadata
    if (this.#confirmed.get(key) === uid) return
    if (this.#mayBeOld(context)) {
      const options = { consistency: 'live', signal: context.signal } as const
      const live = (await context.client.find(kind, key, options)) as KubeObject | undefined
      if (live === undefined || live.metadata.uid !== uid || isDeleting(live)) {
        const what = live?.metadata.uid === uid ? 'is being deleted' : 'was deleted'
        throw new RetryLater(`${kind.kind} ${key} ${what}: waiting for its watch to catch up`, {
          requeueAfter: waitForWatch,
        })
      }
    }
    this.#confirmed.set(key, uid)
  }

  #mayBeOld({ cluster }: KeyContext): boolean {
    const { group, plural } = this.#controller.kind
    const name = formatGroupResource({ group, resource: plural })
    for (const [watch, { mayBeOld }] of cluster.cache.health) if (mayBeOld && watch.startsWith(`${name} `)) return true
    return false
  }

  async #acquire(object: KubeObject, context: KeyContext): Promise<KubeObject | undefined> {
    const { kind, finalizer } = this.#controller
    const call = { fieldManager: this.#fieldManager, signal: context.signal }
    const send = async (): Promise<{ readonly kept: KubeObject | undefined; readonly known: string | undefined }> => {
      const kept = await acquireFinalizer(context.client, kind, object, finalizer, call)
      // The reconcile continues with this object, so it knows all of it.
      return { kept, known: kept?.metadata.resourceVersion }
    }
    return (await (this.#own?.during(keyOf(object), send) ?? send())).kept
  }

  // Prune and status come after a successful reconcile only: an error skips the former, and may bring its own status.
  async #work(object: KubeObject, context: KeyContext): Promise<KeyOutcome | undefined> {
    const running = this.#start(object, context)
    const outcome = await this.#guarded(running, async () => {
      const returned = (await this.#controller.reconcile(running.object as never, running.controller)) ?? none
      await running.children.settled()
      if (this.#controller.prune && returned.prune !== false) await running.children.prune()
      await running.statuses.settled()
      const change = statusChangeOf(returned, true) ?? this.#status.recovery(running.statuses.object)
      if (change !== undefined) await running.statuses.write(change)
      return returned
    })
    return outcome.requeueAfter === undefined ? undefined : { requeueAfter: outcome.requeueAfter }
  }

  async #finish(object: KubeObject, context: KeyContext): Promise<KeyOutcome | undefined> {
    const { kind, cleanup, finalizer } = this.#controller
    if (!hasFinalizer(object, finalizer)) return undefined
    // A controller without `cleanup` removes a finalizer that an earlier version of it added.
    const running = this.#start(object, context)
    const outcome = await this.#guarded(running, async () => {
      const returned = (await cleanup?.(running.object as never, running.controller)) ?? none
      await running.children.settled()
      await running.statuses.settled()
      const change = statusChangeOf(returned)
      if (change !== undefined) await running.statuses.write(change)
      return returned
    })
    if (outcome.requeueAfter !== undefined) return { requeueAfter: outcome.requeueAfter }
    const call = { fieldManager: this.#fieldManager, signal: context.signal }
    await releaseFinalizer(context.client, kind, object, finalizer, call)
    return undefined
  }

  /** Runs user code. When it fails, writes the status that belongs to the failure and rejects with the error. */
  async #guarded(running: Running, run: () => Promise<Outcome<unknown>>): Promise<Outcome<unknown>> {
    try {
      return await run()
    } catch (error) {
      explainReadOnly(error)
      await running.statuses.settled()
      await this.#reportFailure(running, error)
      throw error
    }
  }

  async #reportFailure(running: Running, error: unknown): Promise<void> {
    const { context, object } = running
    const { signal } = context
    const isInterrupted = signal.aborted && !isKubewrightError(signal.reason, 'KW_DEADLINE_EXCEEDED')
    if (isInterrupted || isKubewrightError(error, 'KW_NOT_LEADER') || isKubewrightError(error, 'KW_NO_STATUS')) return
    const failure = classifyFailure(error, () => isDeleting(object))
    if (failure.class === 'conflict' || failure.class === 'retry-later') return
    const isTerminal = failure.class === 'terminal'
    const change =
      (await this.#statusOfFailure(running, error)) ?? (isTerminal ? this.#trace(running, error) : undefined)
    if (change === undefined) return
    try {
      await running.statuses.write(change)
    } catch (problem) {
      // Without a retry, the status of a terminal error would be lost.
      if (isTerminal && !isKubewrightError(rootOf(problem), 'KW_NO_STATUS')) {
        context.log.error(error, 'Reconcile failed, and its status could not be written; retrying')
        throw problem
      }
      context.log.error(problem, 'Status of a failed reconcile could not be written')
    }
  }

  async #statusOfFailure(running: Running, error: unknown): Promise<StatusChange | undefined> {
    const { onError } = this.#controller
    try {
      const own = failureStatusOf(error)
      if (own !== undefined) return { mergeStatus: own }
      const asError = error instanceof Error ? error : new Error(String(error))
      const outcome = await onError?.(running.object as never, asError, running.controller)
      return outcome?.mergeStatus ? { mergeStatus: outcome.mergeStatus } : undefined
    } catch (problem) {
      running.context.log.error(problem, "Determining the status of a failed reconcile failed; see 'onError'")
      return undefined
    }
  }

  /** The visible trace of a terminal error: a Warning Event and, if the kind has conditions, a condition. */
  #trace(running: Running, error: unknown): StatusChange | undefined {
    const message = errorText(error)
    running.controller.event('Warning', terminalReason, message)
    return this.#status.terminal(running.statuses.object, message)
  }

  /**
   * Whether the controller selects the object. Changes of children and watched kinds may map to objects that it does
   * not select; those may belong to another process, so even their deletion is ignored.
   */
  #concerns(object: KubeObject, context: KeyContext): boolean {
    const { namespace = '', labels } = object.metadata
    const selected = this.#selector?.matches(labels) ?? true
    if (selected && (this.#namespaces?.has(namespace) ?? true)) return true
    if (hasFinalizer(object, this.#controller.finalizer)) {
      const { finalizer } = this.#controller
      context.log.debug('Object has the finalizer, but the controller does not select it', { finalizer })
    }
    return false
  }

  #start(object: KubeObject, context: KeyContext): Running {
    const { kind, name, adopt } = this.#controller
    const owner = deepFreeze(object)
    const event: Context['event'] = (type, reason, message, options = {}) => {
      const { action, related, about = owner } = options
      context.events.record(about, {
        type,
        reason,
        message,
        ...(action === undefined ? {} : { action }),
        ...(related === undefined ? {} : { related }),
      })
    }
    const statuses = new StatusSession(owner, {
      writer: this.#status,
      own: this.#own,
      context,
      count: (result) => this.#count(objectMetricNames.statuses, result),
    })
    const children = new Children({
      owner,
      ownerKind: kind,
      controller: name,
      client: context.client,
      log: context.log,
      signal: () => context.signal,
      waitsFor: context.waitsFor,
      owns: this.#owns,
      fieldManager: this.#fieldManager,
      adopt,
      applied: this.#applied,
      event,
      count: (result) => this.#count(objectMetricNames.applies, result),
    })
    const controller = asContext(new ObjectContext(context, children, statuses, event))
    return { object: owner, context, controller, children, statuses }
  }

  #count(name: string, result: 'written' | 'unchanged' | 'refused'): void {
    const labels = this.#labels.get(result)
    if (labels !== undefined) this.#parts.metrics.add(name, labels, 1)
  }
}

const none: Outcome<unknown> = Object.freeze({})

/** One reconcile of an object. */
interface Running {
  readonly object: KubeObject
  readonly context: KeyContext
  readonly controller: Context
  readonly children: Children
  readonly statuses: StatusSession
}

const rootOf = (error: unknown): unknown => (error instanceof Error ? (error.cause ?? error) : error)

const asContext = ownMembers<Context>([
  'client',
  'cluster',
  'clusters',
  'watch',
  'signal',
  'now',
  'log',
  'causes',
  'reconcileID',
  'event',
  'apply',
  'children',
  'mergeStatus',
])

/** The context of a reconciler. Expensive values are computed on first read. */
class ObjectContext implements Context {
  readonly event: Context['event']
  readonly apply: Context['apply']
  readonly children: Context['children']
  readonly mergeStatus: Context['mergeStatus']
  readonly #context: KeyContext

  constructor(context: KeyContext, children: Children, statuses: StatusSession, event: Context['event']) {
    this.#context = context
    this.event = event
    // The type of the draft determines the type of the live object.
    this.apply = <R>(child: Readonly<TypeMeta> & Reads<R>, options?: ApplyChildOptions) =>
      children.apply(child, options) as Promise<R>
    this.mergeStatus = (status) => statuses.write({ mergeStatus: status as object })
    this.children = <K extends AnyKind>(kind: K): Promise<readonly Infer<K>[]> => children.list(kind)
  }

  get client(): Client {
    return this.#context.client
  }

  get cluster(): Cluster {
    return this.#context.cluster
  }

  get clusters(): Clusters {
    return this.#context.clusters
  }

  get watch(): Context['watch'] {
    return this.#context.watch
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get now(): () => Date {
    return this.#context.now
  }

  get log(): Logger {
    return this.#context.log
  }

  get causes(): readonly CountedCause[] {
    return this.#context.causes
  }

  get reconcileID(): string {
    return this.#context.reconcileID
  }
}
