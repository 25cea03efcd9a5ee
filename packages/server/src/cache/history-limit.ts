import type { Clock, Logger, Timer } from '@kubewright/base'
import type { Store } from '@kubewright/storage'

/** How much history a store keeps. */
export interface HistoryLimits {
  /** Milliseconds for which revisions are kept, unless there are too many. @default 5 minutes, as in kube-apiserver */
  readonly age?: number | undefined
  /** The approximate number of revisions to keep at most, whatever their age: history costs memory. @default 50,000 */
  readonly revisions?: number | undefined
  /**
   * The bytes of old object versions that the watch caches keep at most, whatever their age. The store has a limit of its own.
   * @default 64 MiB
   */
  readonly bytes?: number | undefined
}

const checkPeriod = 10_000
// Without a limit of the number of revisions, history is checked this many times while it reaches its age.
const checksPerAge = 5
/** A persistent store has at most this many times, at equal distances within the age. */
const timesPerAge = 10
/** The key of these times, outside of the keys of objects. */
const timesKey = '/kubewright/revision-times'

/** A revision that was the newest one at a time. */
interface SeenRevision {
  /** By the monotonic clock of this process. Negative for what an earlier process has seen. */
  readonly at: number
  readonly revision: number
}

/**
 * Compacts a store periodically, so that its history does not grow without bound. Clients that read compacted revisions receive 410
 * Gone and list again. Several servers may compact one store. A persistent store also has the times of some revisions: without them, the
 * history of a server that restarts more often than once per age would have no age.
 */
export class HistoryLimit implements AsyncDisposable {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Logger
  readonly #age: number
  readonly #revisions: number
  readonly #period: number
  readonly #changed: (signal: AbortSignal) => Promise<void>
  readonly #stop = new AbortController()
  #timer: Timer | undefined
  /** The newest revision at each check, oldest first. */
  readonly #seen: SeenRevision[] = []
  #compacted = 0
  /** When the times were last stored, and the revision of that write. Undefined before they were read. */
  #stored: SeenRevision | undefined
  #running: Promise<void> | undefined

  /** `changed` resolves after the next change of the store, or when the signal aborts. */
  constructor(
    parts: { store: Store; clock: Clock; log: Logger; changed: (signal: AbortSignal) => Promise<void> },
    limits: HistoryLimits = {},
  ) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#log = parts.log
    this.#age = limits.age ?? 5 * 60_000
    this.#revisions = limits.revisions ?? 50_000
    // A burst of writes can exceed the number of revisions at any time; the age is reached slowly.
    this.#period = Number.isFinite(this.#revisions) ? checkPeriod : this.#age / checksPerAge
    this.#changed = parts.changed
    // Without limits, another program compacts the store.
    if (Number.isFinite(this.#age) || Number.isFinite(this.#revisions)) this.#schedule()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#timer?.cancel()
    await this.#running
  }

  #schedule(): void {
    this.#timer = this.#clock.setTimer(this.#period, () => void (this.#running = this.#tick()), 'history limit')
  }

  /** Checks, then schedules the next check: after the period, or after the next change when no history is left. */
  async #tick(): Promise<void> {
    try {
      const revision = await this.#check()
      if (revision === this.#compacted) await this.#changed(this.#stop.signal)
    } catch (error) {
      this.#log.debug('Compaction of the store failed; retrying', { error: String(error) })
    }
    if (!this.#stop.signal.aborted) this.#schedule()
  }

  /** Compacts the revisions beyond the limits. Resolves to the newest revision. */
  async #check(): Promise<number> {
    const now = this.#clock.monotonic()
    if (this.#store.persistent && !this.#stored) await this.#readTimes(now)
    const revision = await this.#store.revision()
    this.#seen.push({ at: now, revision })
    let keepFrom = 0
    // The newest revision that has reached the age.
    while (this.#seen[0] && this.#seen[0].at <= now - this.#age) keepFrom = this.#seen.shift()!.revision
    // Compacts to half of the limit, so that a busy store is not compacted at every check.
    if (revision - Math.max(keepFrom, this.#compacted) > this.#revisions)
      keepFrom = Math.max(keepFrom, revision - Math.floor(this.#revisions / 2))
    if (keepFrom > this.#compacted) {
      await this.#store.compact(keepFrom)
      this.#compacted = keepFrom
    }
    const { at, revision: written } = this.#stored ?? { at: now, revision }
    // Without other writes there is nothing new to store.
    return revision > written && now - at >= this.#age / timesPerAge ? this.#writeTimes(now) : revision
  }

  /** Continues with what an earlier process has seen. */
  async #readTimes(now: number): Promise<void> {
    const { entry } = await this.#store.get(timesKey)
    // The first times of this process are stored at its first check.
    this.#stored = { at: Number.NEGATIVE_INFINITY, revision: entry?.modRevision ?? 0 }
    const wall = this.#clock.now()
    for (const [time, revision] of timesOf(entry?.value)) {
      // A time in the future is wrong: the clock of the machine was set back.
      if (time <= wall) this.#seen.push({ at: now - (wall - time), revision })
    }
  }

  /** Stores times for a later process. Resolves to the newest revision. */
  async #writeTimes(now: number): Promise<number> {
    const wall = this.#clock.now()
    const kept: SeenRevision[] = []
    for (const one of this.#seen) {
      if (one.at - (kept.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= this.#age / timesPerAge) kept.push(one)
    }
    const times = kept.map(({ at, revision }) => [Math.round(wall - (now - at)), revision])
    const { entry } = await this.#store.get(timesKey)
    const { revision } = await this.#store.put(timesKey, Buffer.from(JSON.stringify(times)), entry?.modRevision ?? 0)
    this.#stored = { at: now, revision }
    return revision
  }
}

/** The stored times in milliseconds, with the revisions. Nothing if they cannot be read: history then ages from now on. */
function timesOf(value: Uint8Array | undefined): [time: number, revision: number][] {
  if (!value) return []
  try {
    const times: unknown = JSON.parse(Buffer.from(value).toString())
    return Array.isArray(times) ? times.filter((one) => Array.isArray(one) && one.every(Number.isSafeInteger)) : []
  } catch {
    return []
  }
}
