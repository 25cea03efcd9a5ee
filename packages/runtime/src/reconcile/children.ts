import {
  type AnyKind,
  controllerOf,
  controllerRef,
  formatKey,
  type Infer,
  isDeleting,
  isNotFound,
  type KubeObject,
  keyOf,
  type OwnerReference,
  type TypeMeta,
} from '@kubewright/api'
import { deepFreeze, KubewrightError, type Logger } from '@kubewright/base'
import { type Client, metadataOnly } from '@kubewright/client'
import { RetryLater } from '../controller/reconcile-errors.ts'
import type { Adoption, ApplyChildOptions } from '../define/context.ts'
import type { OwnedKind } from '../define/watched-kinds.ts'
import { type AppliedFields, wasAppliedBy } from './applied-fields.ts'
import { storedForm } from './stored-form.ts'
import { asUidConflict } from './uid-conflict.ts'

/** An owned kind in a running controller. */
export interface OwnedKindInUse {
  readonly options: OwnedKind
  /** The kind in the cache: the owned kind itself, or its metadata only. */
  readonly watched: AnyKind
}

/** Prepares owned kinds, so that cache and client use the same kind value. */
export function ownedKindsInUse(owns: readonly OwnedKind[]): ReadonlyMap<string, OwnedKindInUse> {
  const entries = owns.map((options) => {
    const watched = options.metadataOnly ? metadataOnly(options.kind) : options.kind
    return [typeName(options.kind), { options, watched }] as const
  })
  return new Map(entries)
}

const typeName = ({ apiVersion, kind }: Readonly<TypeMeta>): string => `${apiVersion} ${kind}`

// Without the version: a controller may own a kind in several versions, which list the same objects.
const placeName = ({ group, kind }: AnyKind, key: string): string => `${group} ${kind} ${key}`

/** The parts of {@link Children}. */
export interface ChildrenParts {
  readonly owner: KubeObject
  readonly ownerKind: AnyKind
  readonly controller: string
  readonly client: Client
  readonly log: Logger
  readonly signal: () => AbortSignal
  /** Records what the reconcile waits for, for the report of a hang. */
  readonly waitsFor: (what: string | undefined) => void
  readonly owns: ReadonlyMap<string, OwnedKindInUse>
  readonly fieldManager: string
  readonly adopt: Adoption
  readonly applied: AppliedFields
  readonly event: (type: 'Normal' | 'Warning', reason: string, message: string) => void
  /** Called with the result of each apply. */
  readonly count: (result: 'written' | 'unchanged' | 'refused') => void
}

interface ChildDraft extends Readonly<TypeMeta> {
  readonly metadata?:
    | {
        readonly name?: string | undefined
        readonly namespace?: string | undefined
        readonly ownerReferences?: readonly OwnerReference[] | undefined
      }
    | undefined
}

// The garbage collector is fast, and the deletion of the child reconciles the owner even sooner.
const waitForCollector = '5s'

// The watch event that updates the stale owner reconciles it even sooner.
const waitForWatch = '5s'

/** The children of one object during one reconcile. */
export class Children {
  readonly #parts: ChildrenParts
  readonly #applied = new Set<string>()
  /** The applies that have not ended, with the names of their children. */
  readonly #open = new Map<Promise<unknown>, string>()
  // Shared by all applies of the reconcile.
  #ownerConfirmed: Promise<void> | undefined

  constructor(parts: ChildrenParts) {
    this.#parts = parts
  }

  /**
   * Applies a child with server-side apply, unless the cache proves that nothing would change. Resolves to the live
   * object.
   */
  apply(child: Readonly<TypeMeta>, options: ApplyChildOptions = {}): Promise<unknown> {
    const work = this.#apply(child, options)
    this.#open.set(work, `${child.kind} ${(child as ChildDraft).metadata?.name ?? ''}`)
    const end = (): void => void this.#open.delete(work)
    // Registered before the caller can wait, so an apply that the caller waited for is not open any more. A rejection that
    // the caller does not wait for must not end the process: it is reported by `settled`.
    work.then(end, end)
    return work
  }

  /**
   * Rejects if a child is still being applied although the reconcile has returned: its `await` is missing, and its failure
   * would be lost. Waits for the applies, so that they do not overlap with the next reconcile.
   */
  async settled(): Promise<void> {
    if (this.#open.size === 0) return
    const names = [...this.#open.values()].join(', ')
    const results = await Promise.allSettled(this.#open.keys())
    const failure = results.find((result) => result.status === 'rejected')
    throw new KubewrightError(
      'KW_NOT_AWAITED',
      `The reconcile of ${this.#ownerText()} returned before its apply of ${names} ended: write 'await apply(...)'`,
      failure === undefined ? {} : { cause: failure.reason },
    )
  }

  async #apply(child: Readonly<TypeMeta>, options: ApplyChildOptions): Promise<unknown> {
    const { client, fieldManager, applied, count } = this.#parts
    const use = this.#use(child, `apply ${child.kind} ${(child as ChildDraft).metadata?.name ?? ''}`)
    const { kind } = use.options
    const config = storedForm(this.#configuration(child, kind))
    const key = keyOf(config)
    // Recorded even if the apply fails and the reconciler continues: the child is wanted and must not be pruned.
    this.#applied.add(placeName(kind, key))
    const live = (await client.find(use.watched, key)) as KubeObject | undefined
    if (live !== undefined) {
      await this.#checkControl(kind, live, options.adopt ?? this.#parts.adopt)
      if (use.watched === kind && applied.unchanged(config, live)) {
        count('unchanged')
        return deepFreeze(live)
      }
    }
    if (live === undefined || controllerOf(live)?.uid !== this.#parts.owner.metadata.uid) {
      await (this.#ownerConfirmed ??= this.#confirmOwner())
    }
    const { force = true } = options
    // The uid makes the server reject the write when another object has taken the name.
    const metadata = live === undefined ? config.metadata : { ...config.metadata, uid: live.metadata.uid }
    const call = { fieldManager, force, signal: this.#parts.signal() }
    const answer = (await this.#sent(kind, key, () => client.apply(kind, { ...config, metadata }, call))) as KubeObject
    count('written')
    applied.learn(config, answer, live)
    return deepFreeze(answer)
  }

  /** The objects of a kind that the owner controls. */
  async list<K extends AnyKind>(kind: K): Promise<readonly Infer<K>[]> {
    // When only metadata is cached, only metadata is listed.
    return this.#list(this.#use(kind, `list the ${kind.kind} objects`)) as Promise<readonly Infer<K>[]>
  }

  /** Deletes the children that the controller applied earlier, but not in this reconcile. */
  async prune(): Promise<void> {
    const { owns, log } = this.#parts
    for (const use of owns.values()) {
      const { options } = use
      const candidates = (await this.#list(use)).filter(
        (object) =>
          object.metadata.deletionTimestamp === undefined && !this.#applied.has(placeName(options.kind, keyOf(object))),
      )
      const ours = await Promise.all(candidates.map((object) => this.#wasOurs(options.kind, object)))
      const stale = candidates.filter((_, index) => ours[index])
      await Promise.all(stale.map((object) => this.#delete(options.kind, object)))
      if (stale.length > 0)
        log.info('Pruned children that are no longer applied', { kind: options.kind.kind, children: stale.map(keyOf) })
    }
  }

  async #list({ options, watched }: OwnedKindInUse): Promise<readonly KubeObject[]> {
    const { owner, client } = this.#parts
    // For a cluster-scoped owner: all namespaces that the operator may access.
    const { namespace } = owner.metadata
    try {
      return (await client.list(watched, { namespace, controlledBy: owner })) as readonly KubeObject[]
    } catch (error) {
      // A kind that is not installed has no objects.
      if (options.optional && isNotFound(error)) return []
      throw error
    }
  }

  /** Whether this controller has applied the object. Asks the server when the cache has no managedFields. */
  async #wasOurs(kind: AnyKind, object: KubeObject): Promise<boolean> {
    const { client, fieldManager } = this.#parts
    if (object.metadata.managedFields !== undefined) return wasAppliedBy(object, fieldManager)
    const options = { consistency: 'live', signal: this.#parts.signal() } as const
    const live = (await client.find(kind, keyOf(object), options)) as KubeObject | undefined
    return live !== undefined && live.metadata.uid === object.metadata.uid && wasAppliedBy(live, fieldManager)
  }

  async #delete(kind: AnyKind, object: KubeObject): Promise<void> {
    const { uid } = object.metadata
    const options = { propagationPolicy: 'Background', preconditions: { uid }, signal: this.#parts.signal() } as const
    try {
      await this.#parts.client.delete(kind, keyOf(object), options)
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  #use(child: Readonly<TypeMeta>, doing: string): OwnedKindInUse {
    const use = this.#parts.owns.get(typeName(child))
    if (use !== undefined) return use
    throw new KubewrightError(
      'KW_CHILD',
      `Cannot ${doing} as controller "${this.#parts.controller}" does not own the kind ${typeName(child)}: add it to 'owns', or use 'client' for objects that are not children`,
    )
  }

  /** The draft with the namespace and the owner reference of a child. */
  #configuration(child: Readonly<TypeMeta>, kind: AnyKind): ChildDraft & { metadata: { name: string } } {
    const { owner } = this.#parts
    const { metadata = {} } = child as ChildDraft
    const { name = '' } = metadata
    const refuse = (why: string): never => {
      const childText = name === '' ? `a ${kind.kind}` : `${kind.kind} ${formatKey(name, metadata.namespace)}`
      throw new KubewrightError('KW_CHILD', `Cannot apply ${childText} as a child of ${this.#ownerText()}: ${why}`)
    }
    if (name === '')
      refuse("it has no 'metadata.name': derive it from the owner's name, so that the next apply finds the child")
    const home = owner.metadata.namespace
    if (kind.scope === 'Cluster' && home !== undefined) {
      refuse(
        `a namespaced object cannot own a cluster-scoped one: use 'client.apply' with force: true and delete it in 'cleanup', or make the owner's kind cluster-scoped`,
      )
    }
    const namespace = kind.scope === 'Cluster' ? undefined : (metadata.namespace ?? home)
    if (kind.scope === 'Namespaced' && namespace === undefined) {
      refuse(`its owner is cluster-scoped, so the child needs a namespace: set 'metadata.namespace'`)
    }
    if (home !== undefined && namespace !== home) {
      refuse(
        `a child must be in the namespace of its owner: use 'client.apply' with force: true and delete it in 'cleanup', or make the owner's kind cluster-scoped`,
      )
    }
    const ours = controllerRef(owner)
    const others = (metadata.ownerReferences ?? []).filter((reference) => reference.uid !== ours.uid)
    return {
      ...child,
      metadata: {
        ...metadata,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ownerReferences: [...others, ours],
      },
    }
  }

  async #checkControl(kind: AnyKind, live: KubeObject, adopt: Adoption): Promise<void> {
    const { owner, ownerKind, event, count } = this.#parts
    const controller = controllerOf(live)
    if (controller?.uid === owner.metadata.uid) return
    const childText = `${kind.kind} ${keyOf(live)}`
    if (controller !== undefined && controller.kind === ownerKind.kind && controller.name === owner.metadata.name) {
      const what = `${childText} belongs to an earlier ${ownerKind.kind} with the same name`
      throw new RetryLater(`${what}: waiting for the garbage collector to delete it`, {
        requeueAfter: waitForCollector,
      })
    }
    if (controller === undefined) {
      if (adopt === 'orphans' || (adopt === 'ours' && (await this.#wasOurs(kind, live)))) return
    }
    count('refused')
    event(
      'Warning',
      'ErrResourceExists',
      `Resource "${live.metadata.name}" already exists and is not managed by ${ownerKind.kind}`,
    )
    const [whose, fix] =
      controller === undefined
        ? ['it exists and has no controller', "delete it, choose another name, or adopt it with adopt: 'orphans'"]
        : [`it is controlled by ${controller.kind} ${controller.name}`, 'choose another name']
    throw new KubewrightError(
      'KW_NOT_OUR_CHILD',
      `Cannot apply ${childText} as a child of ${this.#ownerText()}: ${whose}: ${fix}`,
    )
  }

  /**
   * Rejects unless the server still has the owner. Called once per reconcile, and only before an apply that sets a new
   * owner reference. The cache may lag behind: an owner that is gone must not get new children, and one whose name was
   * used again must not take the children of its successor, which the garbage collector would then delete.
   */
  async #confirmOwner(): Promise<void> {
    const { owner, ownerKind, client, signal } = this.#parts
    const options = { consistency: 'live', signal: signal() } as const
    const live = (await client.find(ownerKind, keyOf(owner), options)) as KubeObject | undefined
    const isSame = live?.metadata.uid === owner.metadata.uid
    if (live !== undefined && isSame && isDeleting(live) === isDeleting(owner)) return
    const why = live === undefined ? 'was deleted' : isSame ? 'is being deleted' : 'was deleted and created again'
    throw new RetryLater(`${this.#ownerText()} ${why}: waiting for its watch to catch up`, {
      requeueAfter: waitForWatch,
    })
  }

  async #sent<T>(kind: AnyKind, key: string, send: () => Promise<T>): Promise<T> {
    this.#parts.waitsFor(`the apply of ${kind.kind} ${key}`)
    try {
      return await send()
    } catch (error) {
      throw asUidConflict(error, kind, key)
    } finally {
      this.#parts.waitsFor(undefined)
    }
  }

  #ownerText(): string {
    return `${this.#parts.ownerKind.kind} ${keyOf(this.#parts.owner)}`
  }
}
