import { type Clock, every, type Logger, type Timer } from '@kubewright/base'
import type { Store } from '@kubewright/storage'

/** How much of a store's history is kept. */
export interface HistoryLimits {
  /** What is younger is kept, as kube-apiserver does; milliseconds. @default 5 minutes */
  readonly age?: number
  /** At most about so many revisions are kept, however young: history costs memory. @default 50,000 */
  readonly revisions?: number
}

const checkPeriod = 10_000

/**
 * Makes a store forget its past, so that it does not grow with every write for ever. Readers of what is gone get 410 and list anew.
 * Several servers may do this to one store.
 */
export class HistoryLimit implements AsyncDisposable {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Logger
  readonly #age: number
  readonly #revisions: number
  readonly #ticker: Timer
  /** Revisions that were the newest when they were seen, oldest first. */
  readonly #seen: { readonly at: number; readonly revision: number }[] = []
  #compacted = 0
  #running: Promise<void> | undefined

  constructor(parts: { store: Store; clock: Clock; log: Logger }, limits: HistoryLimits = {}) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#log = parts.log
    this.#age = limits.age ?? 5 * 60_000
    this.#revisions = limits.revisions ?? 50_000
    this.#ticker = every(parts.clock, checkPeriod, () => this.#tick(), 'history limit')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ticker.cancel()
    await this.#running
  }

  #tick(): void {
    this.#running ??= this.#check()
      .catch((error: unknown) => this.#log.debug('Cannot compact the store; trying again', { error: String(error) }))
      .finally(() => {
        this.#running = undefined
      })
  }

  async #check(): Promise<void> {
    const now = this.#clock.monotonic()
    const revision = await this.#store.revision()
    this.#seen.push({ at: now, revision })
    let keepFrom = 0
    // The newest of those that are old enough.
    while (this.#seen[0] && this.#seen[0].at <= now - this.#age) keepFrom = this.#seen.shift()!.revision
    // Half of the limit at once, so that a busy store is not compacted at every check.
    if (revision - Math.max(keepFrom, this.#compacted) > this.#revisions)
      keepFrom = Math.max(keepFrom, revision - Math.floor(this.#revisions / 2))
    if (keepFrom <= this.#compacted) return
    await this.#store.compact(keepFrom)
    this.#compacted = keepFrom
  }
}
