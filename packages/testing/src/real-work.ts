import { systemClock } from '@kubewright/base'

// In milliseconds of real time.
const longestDelay = 1000

/**
 * Detects real I/O that virtual time must wait for: requests over sockets, and the files, sockets and timers of user
 * code. Node reports the resources that are active in the process, but not what waits for them. Resources that are
 * active while no user code runs therefore count as unrelated, and so do those that stay active for a second of real
 * time, such as idle connections. Work in Node's thread pool (keys, compression) is not visible.
 */
export class RealWork {
  readonly #hasRequests: () => boolean
  readonly #isUserCodeRunning: () => boolean
  #unrelated = activeResources()
  #delayed = 0

  constructor(hasRequests: () => boolean, isUserCodeRunning: () => boolean) {
    this.#hasRequests = hasRequests
    this.#isUserCodeRunning = isUserCodeRunning
  }

  /** Waits a moment if real work is in progress. Resolves to false when virtual time may pass. */
  async delay(): Promise<boolean> {
    if (this.#inProgress() && this.#delayed < longestDelay) {
      this.#delayed++
      await systemClock.sleep(1)
      return true
    }
    if (this.#delayed > 0) this.#unrelated = activeResources()
    this.#delayed = 0
    return false
  }

  #inProgress(): boolean {
    if (this.#hasRequests()) return true
    const active = activeResources()
    const isRunning = this.#isUserCodeRunning()
    if (isRunning) {
      for (const [type, count] of active) if (count > (this.#unrelated.get(type) ?? 0)) return true
    }
    this.#unrelated = active
    return false
  }
}

function activeResources(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) {
    if (type !== 'Immediate') counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return counts
}
