/** One reason why a key is in a queue. Reconcilers read it from `context.causes`. */
export interface Cause {
  /**
   * The type of event. `resync` repeats an object that has not changed, `retry` follows a failure, `requeue` was
   * requested by the reconciler.
   */
  readonly event: 'add' | 'update' | 'delete' | 'resync' | 'retry' | 'requeue' | 'other'
  /** The kind of the object that the event is about, such as `apps/v1 Deployment`. */
  readonly kind?: string | undefined
  /** The key of that object. */
  readonly object?: string | undefined
  /** The paths that an update changed, if known. May be a getter that compares the two objects on first read. */
  readonly paths?: readonly string[] | undefined
  /** The field managers that made an update, if known. May be a getter. */
  readonly by?: readonly string[] | undefined
}

/** A cause, and how often it occurred since the key was last taken. */
export interface CountedCause extends Cause {
  readonly count: number
}

// The maximum number of different causes per key. Further ones are not recorded; known ones are still counted.
const maxCausesPerKey = 32
// The maximum number of equal causes whose paths are merged: each one may keep two objects alive until its paths are
// read.
const maxPathsPerCause = 4

/** Equal causes of one key, before their paths are merged. */
interface MergedCause {
  readonly causes: Cause[]
  count: number
}

/**
 * The recorded causes of one key, as input of {@link countedCauses}. A single cause, the common case, is stored without
 * an array.
 */
export type PendingCauses = Cause | MergedCause[] | undefined

/**
 * The causes of all waiting keys. Equal causes are counted; their paths are merged when they are first read. Bounded
 * per key.
 */
export class CauseBook<K> {
  readonly #byKey = new Map<K, Cause | MergedCause[]>()

  record(key: K, cause: Cause): void {
    const pending = this.#byKey.get(key)
    if (pending === undefined) {
      this.#byKey.set(key, cause)
      return
    }
    const merged = asMerged(pending)
    if (merged !== pending) this.#byKey.set(key, merged)
    const known = merged.find(({ causes: [other] }) => other !== undefined && areEqual(other, cause))
    if (known !== undefined) {
      known.count++
      if ('paths' in cause && known.causes.length < maxPathsPerCause) known.causes.push(cause)
    } else if (merged.length < maxCausesPerKey) merged.push({ causes: [cause], count: 1 })
  }

  /** Moves the causes of a key that satisfy the test to another book, and forgets the others. */
  move(key: K, to: CauseBook<K>, test: (cause: Cause) => boolean): void {
    const pending = this.take(key)
    if (pending === undefined) return
    for (const { causes } of asMerged(pending)) for (const cause of causes) if (test(cause)) to.record(key, cause)
  }

  /** Removes and returns the causes of a key. */
  take(key: K): PendingCauses {
    const pending = this.#byKey.get(key)
    if (pending !== undefined) this.#byKey.delete(key)
    return pending
  }

  of(key: K): readonly CountedCause[] {
    return countedCauses(this.#byKey.get(key))
  }

  forget(key: K): void {
    this.#byKey.delete(key)
  }
}

/**
 * Whether a cause that waits for its time matters if the key is processed earlier. A requeue or a retry that is not due
 * does not; a delayed event does, because the reconcile handles it.
 */
export const isEvent = ({ event }: Cause): boolean => event !== 'requeue' && event !== 'retry'

const none: readonly never[] = Object.freeze([])

/** The causes of a key in the form that reconcilers read, oldest first. */
export function countedCauses(pending: PendingCauses): readonly CountedCause[] {
  return pending === undefined ? none : asMerged(pending).map(counted)
}

function asMerged(pending: Cause | MergedCause[]): MergedCause[] {
  return Array.isArray(pending) ? pending : [{ causes: [pending], count: 1 }]
}

function areEqual(a: Cause, b: Cause): boolean {
  return a.event === b.event && a.object === b.object && a.kind === b.kind
}

// The getters are own properties, not members of a class: they are copied, compared and serialized to JSON like any
// other property.
function counted({ causes, count }: MergedCause): CountedCause {
  const [first] = causes
  // An entry is created with a cause and never loses it.
  const { event, kind, object } = first as Cause
  const facts = { event, ...(kind === undefined ? {} : { kind }), ...(object === undefined ? {} : { object }) }
  if (!causes.some((cause) => 'paths' in cause)) return { ...facts, count }
  return Object.defineProperties({ ...facts, count }, unitedLists(causes))
}

function unitedLists(causes: readonly Cause[]): PropertyDescriptorMap {
  const united = (name: 'paths' | 'by'): PropertyDescriptor => {
    let list: readonly string[] | undefined
    return { enumerable: true, get: () => (list ??= [...new Set(causes.flatMap((cause) => cause[name] ?? []))]) }
  }
  return causes.some((cause) => 'by' in cause)
    ? { paths: united('paths'), by: united('by') }
    : { paths: united('paths') }
}
