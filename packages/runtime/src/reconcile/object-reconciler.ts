import {
  type AnyKind,
  hasFinalizer,
  type Infer,
  isDeleting,
  type KubeObject,
  parseSelector,
  type Reads,
  type Selector,
  type TypeMeta,
} from '@kubewright/api'
import { deepFreeze, type Logger, type MetricLabels } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { ControllerParts } from '../controller/controller-parts.ts'
import type { KeyContext, KeyOutcome, KeyReconciler } from '../controller/key-controller.ts'
import type { ApplyChildOptions, Context, Outcome } from '../define/context.ts'
import type { Controller } from '../define/define-controller.ts'
import type { CountedCause } from '../queue/cause.ts'
import { AppliedFields } from './applied-fields.ts'
import { Children, type OwnedKindInUse } from './children.ts'
import { fieldManagerOf } from './field-manager-of.ts'
import { acquireFinalizer, releaseFinalizer } from './finalizers.ts'
import { objectMetricNames } from './object-metrics.ts'
import { StatusWriter } from './status-writer.ts'

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

  constructor(controller: Controller, owns: ReadonlyMap<string, OwnedKindInUse>, parts: ControllerParts) {
    const { name, kind, selector, namespaces } = controller
    this.#controller = controller
    this.#owns = owns
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
    const { kind, cleanup, finalizer } = this.#controller
    const { client } = context
    const object = (await client.find(kind, key)) as KubeObject | undefined
    if (object === undefined || !this.#concerns(object, context)) return undefined
    if (isDeleting(object)) return this.#finish(object, context)
    if (cleanup === undefined || hasFinalizer(object, finalizer)) return this.#work(object, context)
    const call = { fieldManager: this.#fieldManager, signal: context.signal }
    // The finalizer comes first, so that everything done outside the cluster will be cleaned up.
    const kept = await acquireFinalizer(client, kind, object, finalizer, call)
    return kept === undefined ? undefined : this.#work(kept, context)
  }

  // Prune and status come after a successful reconcile only: an error skips both.
  async #work(object: KubeObject, context: KeyContext): Promise<KeyOutcome | undefined> {
    const { controller, children } = this.#start(object, context)
    const outcome = (await this.#controller.reconcile(deepFreeze(object) as never, controller)) ?? none
    if (this.#controller.prune && outcome.prune !== false) await children.prune()
    if (outcome.status !== undefined && outcome.status !== null) {
      const { client } = context
      const written = await this.#status.write(client, object, outcome.status as object, () => context.signal)
      this.#count(objectMetricNames.statuses, written ? 'written' : 'unchanged')
    }
    return outcome.requeueAfter === undefined ? undefined : { requeueAfter: outcome.requeueAfter }
  }

  async #finish(object: KubeObject, context: KeyContext): Promise<KeyOutcome | undefined> {
    const { kind, cleanup, finalizer } = this.#controller
    if (!hasFinalizer(object, finalizer)) return undefined
    // A controller without `cleanup` removes a finalizer that an earlier version of it added.
    const { controller } = this.#start(object, context)
    const outcome = (await cleanup?.(deepFreeze(object) as never, controller)) ?? none
    if (outcome.requeueAfter !== undefined) return { requeueAfter: outcome.requeueAfter }
    const call = { fieldManager: this.#fieldManager, signal: context.signal }
    await releaseFinalizer(context.client, kind, object, finalizer, call)
    return undefined
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

  #start(owner: KubeObject, context: KeyContext): { readonly controller: Context; readonly children: Children } {
    const { kind, name, adopt } = this.#controller
    const event: Context['event'] = (type, reason, message) => context.events.record(owner, { type, reason, message })
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
    return { controller: new ObjectContext(context, children, event), children }
  }

  #count(name: string, result: 'written' | 'unchanged' | 'refused'): void {
    const labels = this.#labels.get(result)
    if (labels !== undefined) this.#parts.metrics.add(name, labels, 1)
  }
}

const none: Outcome<unknown> = Object.freeze({})

/** The context of a reconciler. Expensive values are computed on first read. */
class ObjectContext implements Context {
  readonly event: Context['event']
  readonly apply: Context['apply']
  readonly owned: Context['owned']
  readonly #context: KeyContext

  constructor(context: KeyContext, children: Children, event: Context['event']) {
    this.#context = context
    this.event = event
    // The type of the draft determines the type of the live object.
    this.apply = <R>(child: Readonly<TypeMeta> & Reads<R>, options?: ApplyChildOptions) =>
      children.apply(child, options) as Promise<R>
    this.owned = <K extends AnyKind>(kind: K): Promise<readonly Infer<K>[]> => children.list(kind)
  }

  get client(): Client {
    return this.#context.client
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
