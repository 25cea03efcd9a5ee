import { type Duration, toMillis } from '@kubewright/base'
import type { CountedCause } from '../queue/cause.ts'
import type { Taken } from '../queue/queue.ts'

/** The threshold of a hot loop: a key that is reconciled repeatedly because fields keep changing. */
export interface HotLoopOptions {
  /** The number of reconciles of one key. @default 20 */
  readonly times?: number | undefined
  /** The period in which they occur. @default '1m' */
  readonly within?: Duration | undefined
}

/** A detected hot loop, and the field that causes it. */
export interface HotLoop {
  readonly times: number
  /** The length of the period, in milliseconds. */
  readonly within: number
  /** The path of the field, such as `status.lastSyncTime`. */
  readonly field: string
  /** The object that has the field, such as `apps/v1 Deployment default/web`. */
  readonly of: string
  /** The field managers that write the field, if known. */
  readonly writers: readonly string[]
}

interface Tally {
  readonly since: number
  times: number
  /** The number of reconciles whose causes were inspected, and the number of times that each field changed in them. */
  inspected: number
  fields: Map<string, FieldTally> | undefined
}

interface FieldTally {
  count: number
  readonly path: string
  readonly of: string
  readonly writers: Set<string>
}

// The number of counted keys in each of two generations. The older one is dropped as a whole: a hot loop will be
// counted again.
const maxKeys = 4096

/**
 * Detects keys that are reconciled repeatedly because the same fields keep changing although the spec of the object
 * does not. The usual causes are a reconciler that writes a different value each time, and two writers that disagree.
 *
 * Inspecting causes requires a comparison of objects, so only the second half of the reconciles of a hot loop is
 * inspected.
 */
export class HotLoopDetector {
  readonly #kind: string | undefined
  readonly #times: number
  readonly #within: number
  #tallies = new Map<string, Tally>()
  #older = new Map<string, Tally>()
  // Recently reported keys, with the time until which they are not reported again.
  readonly #quiet = new Map<string, number>()

  /** `kind` is the kind of the controller's objects, in the form used in causes. */
  constructor(kind: string | undefined, options: HotLoopOptions = {}) {
    this.#kind = kind
    this.#times = options.times ?? 20
    this.#within = toMillis(options.within ?? '1m')
    if (!(this.#times >= 2)) throw new RangeError(`'hotLoop.times' must be at least 2: ${this.#times}`)
  }

  /** Counts a reconcile. Returns the hot loop that it completes, at most once per key and period. */
  observe(taken: Taken, now: number): HotLoop | undefined {
    const { key } = taken
    const tally = this.#tallies.get(key) ?? this.#older.get(key)
    if (tally === undefined || now - tally.since > this.#within) {
      this.#restart(key, now)
      return undefined
    }
    tally.times++
    if (tally.times * 2 <= this.#times) return undefined
    if (!this.#inspect(tally, taken)) {
      this.#restart(key, now)
      return undefined
    }
    return tally.times >= this.#times ? this.#conclude(key, tally, now) : undefined
  }

  #restart(key: string, now: number): void {
    if (this.#tallies.size >= maxKeys) {
      this.#older = this.#tallies
      this.#tallies = new Map()
    }
    this.#tallies.set(key, { since: now, times: 1, inspected: 0, fields: undefined })
  }

  /**
   * Counts the changed fields. Returns false when the spec of the object itself changed: then the reconcile has a
   * reason.
   */
  #inspect(tally: Tally, { key, causes }: Taken): boolean {
    tally.inspected++
    for (const cause of causes) {
      const own = cause.kind === this.#kind && cause.object === key
      if (own && (cause.event === 'add' || cause.paths?.some(isSpec))) return false
      if (cause.event === 'update') noteFields(tally, cause)
    }
    return true
  }

  #conclude(key: string, tally: Tally, now: number): HotLoop | undefined {
    this.#restart(key, now)
    const top = [...(tally.fields?.values() ?? [])].sort((a, b) => b.count - a.count)[0]
    if (top === undefined || top.count * 2 < tally.inspected || (this.#quiet.get(key) ?? 0) > now) return undefined
    for (const [other, until] of this.#quiet) if (until <= now) this.#quiet.delete(other)
    this.#quiet.set(key, now + this.#within)
    return { times: tally.times, within: now - tally.since, field: top.path, of: top.of, writers: [...top.writers] }
  }
}

function noteFields(tally: Tally, cause: CountedCause): void {
  const fields = (tally.fields ??= new Map())
  const of = `${cause.kind ?? ''} ${cause.object ?? ''}`.trim()
  for (const path of cause.paths ?? []) {
    // Changes as a consequence of other fields, which are more informative.
    if (path === 'metadata.generation') continue
    const id = `${of} ${path}`
    const field = fields.get(id)
    if (field === undefined) fields.set(id, { count: 1, path, of, writers: new Set(cause.by) })
    else {
      field.count++
      for (const writer of cause.by ?? []) field.writers.add(writer)
    }
  }
}

const isSpec = (path: string): boolean => path === 'spec' || path.startsWith('spec.') || path === 'metadata.generation'
