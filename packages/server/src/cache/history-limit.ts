import type { Clock, Logger, Timer } from '@kubewright/base'
import type { Store } from '@kubewright/storage'

/** How much history a store keeps. */
export interface HistoryLimits {
  /** Milliseconds for which revisions are kept, unless there are too many. @default 5 minutes, as in kube-apiserver */
  readonly age?: number
  /** The approximate number of revisions to keep at most, whatever their age: history costs memory. @default 50,000 */
  readonly revisions?: number
  /**
   * The bytes of old object versions that the watch caches keep at most, whatever their age. The store has a limit of its own.
   * @default 64 MiB
   */
  readonly bytes?: number
}

const checkPeriod = 10_000
// Without a limit of the number of revisions, history is checked this many times while it reaches its age.
const checksPerAge = 5

/**
 * Compacts a store periodically, so that its history does not grow without bound. Clients that read compacted revisions receive 410
 * Gone and list again. Several servers may compact one store.
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
  readonly #seen: { readonly at: number; readonly revision: number }[] = []
  #compacted = 0
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
    const revision = await this.#store.revision()
    this.#seen.push({ at: now, revision })
    let keepFrom = 0
    // The newest revision that has reached the age.
    while (this.#seen[0] && this.#seen[0].at <= now - this.#age) keepFrom = this.#seen.shift()!.revision
    // Compacts to half of the limit, so that a busy store is not compacted at every check.
    if (revision - Math.max(keepFrom, this.#compacted) > this.#revisions)
      keepFrom = Math.max(keepFrom, revision - Math.floor(this.#revisions / 2))
    if (keepFrom <= this.#compacted) return revision
    await this.#store.compact(keepFrom)
    this.#compacted = keepFrom
    return revision
  }
}
