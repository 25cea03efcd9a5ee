import { type Duration, toMillis } from '@kubewright/base'
import type { CountedCause } from '../queue/cause.ts'
import type { Taken } from '../queue/queue.ts'

/** When a key counts as being reconciled in circles. */
export interface HotLoopOptions {
  /** How many reconciles of one key. @default 20 */
  readonly times?: number
  /** Within which time. @default '1m' */
  readonly within?: Duration
}

/** A key that is being reconciled in circles, and the field that keeps it going. */
export interface HotLoop {
  readonly times: number
  /** Milliseconds. */
  readonly within: number
  /** Such as `status.lastSyncTime`. */
  readonly field: string
  /** Of which object, such as `apps/v1 Deployment default/web`. */
  readonly of: string
  /** The field managers that write it, where known. */
  readonly writers: readonly string[]
}

interface Tally {
  readonly since: number
  times: number
  /** How many reconciles were looked at closely, and how often each field had a part in them. */
  inspected: number
  fields: Map<string, FieldTally> | undefined
}

interface FieldTally {
  count: number
  readonly path: string
  readonly of: string
  readonly writers: Set<string>
}

// Keys that are counted at a time, in each of two generations; the older one is given up as a whole, since a hot loop comes back.
const maxKeys = 4096

/**
 * Notices keys that are reconciled again and again because the same fields keep changing, though nobody changed the spec of the
 * object: most often because the reconcile itself writes something that differs each time, or two writers disagree.
 *
 * Looking closely costs a comparison of objects, so it is done only for the second half of the reconciles that make a hot loop.
 */
export class HotLoopDetector {
  readonly #kind: string | undefined
  readonly #times: number
  readonly #within: number
  #tallies = new Map<string, Tally>()
  #older = new Map<string, Tally>()
  // Keys that were reported lately, and until when nothing more is said.
  readonly #quiet = new Map<string, number>()

  /** `kind` is that of the controller's objects, in the form of causes. */
  constructor(kind: string | undefined, options: HotLoopOptions = {}) {
    this.#kind = kind
    this.#times = options.times ?? 20
    this.#within = toMillis(options.within ?? '1m')
    if (!(this.#times >= 2)) throw new RangeError(`'hotLoop.times' must be at least 2: ${this.#times}`)
  }

  /** Counts a reconcile; says when it completes a hot loop, at most once per key and period. */
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

  /** Notes what changed; false when that was the spec of the object itself: then there is a reason to work. */
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
    // Follows from other fields, which say more.
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
