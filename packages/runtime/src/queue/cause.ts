/** One reason why a key is in a queue: what `ctx.causes` shows. */
export interface Cause {
  /** What happened. `resync` is a repetition without change, `retry` follows a failure, `requeue` was asked for. */
  readonly event: 'add' | 'update' | 'delete' | 'resync' | 'retry' | 'requeue' | 'other'
  /** The kind of the object that it happened to, such as `apps/v1 Deployment`. */
  readonly kind?: string
  /** The key of that object. */
  readonly object?: string
  /** The paths that an update changed, where known. May be a getter that compares when it is first read. */
  readonly paths?: readonly string[]
  /** The field managers that made an update, where known. May be a getter. */
  readonly by?: readonly string[]
}

/** A cause and how often it occurred since the key was last taken. */
export interface CountedCause extends Cause {
  readonly count: number
}

// What a key that nobody takes may accumulate; beyond it only known causes are still counted.
const maxCausesPerKey = 32
// Of how many equal causes the paths are united: each of them may keep two objects alive until they are read.
const maxPathsPerCause = 4

/** Equal causes of one key, not united yet. */
interface MergedCause {
  readonly causes: Cause[]
  count: number
}

/** The causes of one key as they are kept: most keys have one that occurred once. For {@link countedCauses}. */
export type PendingCauses = Cause | MergedCause[] | undefined

/** Why each waiting key waits, merged: equal causes are counted, their paths united when they are read. Bounded per key. */
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

const none: readonly never[] = Object.freeze([])

/** What readers see of the causes of a key, oldest first. */
export function countedCauses(pending: PendingCauses): readonly CountedCause[] {
  return pending === undefined ? none : asMerged(pending).map(counted)
}

function asMerged(pending: Cause | MergedCause[]): MergedCause[] {
  return Array.isArray(pending) ? pending : [{ causes: [pending], count: 1 }]
}

function areEqual(a: Cause, b: Cause): boolean {
  return a.event === b.event && a.object === b.object && a.kind === b.kind
}

// Getters of its own, not of a class: they are copied, compared and written as JSON like any other property.
function counted({ causes, count }: MergedCause): CountedCause {
  const [first] = causes
  // An entry is made with a cause and never loses it.
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
