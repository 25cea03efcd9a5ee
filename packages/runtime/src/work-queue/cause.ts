/** One reason why a key is in a queue: what `ctx.causes` shows. */
export interface Cause {
  /** What happened. `resync` is a repetition without change, `retry` follows a failure, `requeue` was asked for. */
  readonly event: 'add' | 'update' | 'delete' | 'resync' | 'retry' | 'requeue' | 'other'
  /** The kind of the object that it happened to, such as `apps/v1 Deployment`. */
  readonly kind?: string
  /** The key of that object. */
  readonly object?: string
  /** The paths that an update changed, where known. */
  readonly paths?: readonly string[]
}

/** A cause and how often it occurred since the key was last taken. */
export interface CountedCause extends Cause {
  readonly count: number
}

// What a key that nobody takes may accumulate; beyond it only known causes are still counted.
const maxCausesPerKey = 32

/** Why each waiting key waits, merged: equal causes are counted, their paths united. Bounded per key. */
export class CauseBook<K> {
  readonly #byKey = new Map<K, Map<string, CountedCause>>()

  record(key: K, cause: Cause): void {
    let causes = this.#byKey.get(key)
    if (causes === undefined) {
      causes = new Map()
      this.#byKey.set(key, causes)
    }
    const identity = `${cause.event} ${cause.kind ?? ''} ${cause.object ?? ''}`
    const known = causes.get(identity)
    if (known !== undefined) causes.set(identity, merge(known, cause))
    else if (causes.size < maxCausesPerKey) causes.set(identity, { ...cause, count: 1 })
  }

  /** Removes and returns the causes of a key, oldest first. */
  take(key: K): readonly CountedCause[] {
    const causes = this.of(key)
    if (causes.length > 0) this.#byKey.delete(key)
    return causes
  }

  of(key: K): readonly CountedCause[] {
    const causes = this.#byKey.get(key)
    return causes === undefined ? none : [...causes.values()]
  }

  forget(key: K): void {
    this.#byKey.delete(key)
  }
}

const none: readonly CountedCause[] = Object.freeze([])

function merge(known: CountedCause, cause: Cause): CountedCause {
  const merged = { ...known, count: known.count + 1 }
  if (cause.paths === undefined) return merged
  return { ...merged, paths: [...new Set([...(known.paths ?? []), ...cause.paths])] }
}
