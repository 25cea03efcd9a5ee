import { type AnyKind, type Infer, isConflict, type KubeObject, type Reads, type TypeMeta } from '@kubewright/api'
import type { Context } from '../define/context.ts'
import { type Dependent, type DependentContext, dependentLabel } from './dependent.ts'

/** The state of a dependent at the end of a reconcile. */
export type DependentState =
  | { readonly state: 'ready' | 'progressing'; readonly live: KubeObject }
  /** Not applied, because dependencies are not ready. An object that was applied earlier stays as it is. */
  | { readonly state: 'waiting'; readonly for: readonly string[] }
  | { readonly state: 'failed'; readonly error: unknown }
  | { readonly state: 'unwanted' }

/** The dependents of an object, for the `status` function of `defineDependents`. */
export interface ReadDependents {
  /** Whether all wanted dependents are ready. */
  readonly isReady: boolean
  /** The live object of a dependent; undefined if it was not applied. */
  find<K extends AnyKind>(dependent: Dependent<never, K>): Infer<K> | undefined
}

/** One reconcile of the dependents of an object. */
export class DependentsRun<Primary> implements ReadDependents {
  readonly #primary: Primary
  readonly #dependents: readonly Dependent<Primary, AnyKind>[]
  readonly #context: Context<never>
  readonly #states = new Map<Dependent<Primary, AnyKind>, DependentState>()
  // The names of the wanted objects, by dependent.
  readonly #wanted = new Map<string, string | undefined>()

  constructor(primary: Primary, dependents: readonly Dependent<Primary, AnyKind>[], context: Context<never>) {
    this.#primary = primary
    this.#dependents = dependents
    this.#context = context
  }

  /** The states by name, in the order of the dependents. */
  get states(): ReadonlyMap<string, DependentState> {
    return new Map([...this.#states].map(([{ name }, state]) => [name, state]))
  }

  get isReady(): boolean {
    return [...this.#states.values()].every(({ state }) => state === 'ready' || state === 'unwanted')
  }

  find<K extends AnyKind>(dependent: Dependent<never, K>): Infer<K> | undefined {
    const state = this.#states.get(dependent as unknown as Dependent<Primary, AnyKind>)
    return state !== undefined && 'live' in state ? state.live : undefined
  }

  /** Applies the wanted dependents in order. A failure does not stop those that do not depend on it. */
  async apply(): Promise<void> {
    for (const dependent of this.#dependents) this.#states.set(dependent, await this.#applyOne(dependent))
  }

  async #applyOne(dependent: Dependent<Primary, AnyKind>): Promise<DependentState> {
    const { name, dependsOn } = dependent
    const isWanted = dependent.when(this.#primary) && dependsOn.every((each) => this.#stateOf(each) !== 'unwanted')
    if (!isWanted) return { state: 'unwanted' }
    this.#wanted.set(name, undefined)
    const missing = dependsOn.filter((each) => this.#stateOf(each) !== 'ready').map((each) => each.name)
    if (missing.length > 0) return { state: 'waiting', for: missing }
    try {
      const draft = (await dependent.desired(this.#primary, this.#dependentContext(dependent))) as KubeObject
      this.#wanted.set(name, draft.metadata.name)
      const labels = { ...draft.metadata.labels, [dependentLabel]: name }
      const labelled = { ...draft, metadata: { ...draft.metadata, labels } } as TypeMeta & Reads<KubeObject>
      const live = await this.#context.apply(labelled)
      return { state: dependent.ready(live, this.#primary) ? 'ready' : 'progressing', live }
    } catch (error) {
      // A stale cache is no failure: the reconcile is repeated soon.
      if (isConflict(error)) throw error
      return { state: 'failed', error }
    }
  }

  #stateOf(dependent: Dependent<Primary, AnyKind>): DependentState['state'] | undefined {
    return this.#states.get(dependent)?.state
  }

  #dependentContext({ name, dependsOn }: Dependent<Primary, AnyKind>): DependentContext {
    const { client, now, log, signal } = this.#context
    const live: DependentContext['live'] = (other) => {
      if (!dependsOn.some((each) => each === (other as unknown))) {
        throw new TypeError(`Dependent "${name}" reads "${other.name}", which is missing from its 'dependsOn'`)
      }
      return this.find(other)!
    }
    return { client, now, log, signal, live }
  }

  /** Deletes the objects of dependents that are no longer wanted, and objects that a dependent has under another name. */
  async prune(): Promise<void> {
    for (const kind of new Set(this.#dependents.map((each) => each.kind).toReversed())) {
      for (const object of await this.#objectsOf(kind)) {
        const { name, labels } = object.metadata
        const dependent = labels?.[dependentLabel] ?? ''
        const wanted = this.#wanted.get(dependent)
        // While a dependent waits or fails, the name of its object may be unknown.
        if (this.#wanted.has(dependent) && (wanted === undefined || wanted === name)) continue
        await this.#delete(kind, object)
        this.#context.log.info('Deleted an object that is no longer wanted', { dependent, kind: kind.kind, name })
      }
    }
  }

  /**
   * Deletes the objects of all dependents in the opposite order, each after those that depend on it are gone. Returns
   * whether all are gone.
   */
  async cleanUp(): Promise<boolean> {
    const remaining = new Set<Dependent<Primary, AnyKind>>()
    for (const dependent of this.#dependents.toReversed()) {
      const isInUse = [...remaining].some(({ dependsOn }) => dependsOn.includes(dependent))
      const objects = (await this.#objectsOf(dependent.kind)).filter(
        ({ metadata }) => metadata.labels?.[dependentLabel] === dependent.name,
      )
      if (objects.length > 0 || isInUse) remaining.add(dependent)
      if (!isInUse) for (const object of objects) await this.#delete(dependent.kind, object)
    }
    return remaining.size === 0
  }

  async #objectsOf(kind: AnyKind): Promise<readonly KubeObject[]> {
    const objects = (await this.#context.children(kind)) as readonly KubeObject[]
    return objects.filter(({ metadata }) => metadata.labels?.[dependentLabel] !== undefined)
  }

  async #delete(kind: AnyKind, { metadata }: KubeObject): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return
    const { client, signal } = this.#context
    // Foreground: the object disappears after its own dependents.
    await client.delete(kind, metadata, {
      propagationPolicy: 'Foreground',
      preconditions: { uid: metadata.uid },
      signal,
    })
  }
}
