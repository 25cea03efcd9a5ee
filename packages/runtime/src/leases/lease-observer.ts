import type { Clock } from '@kubewright/base'
import type { Lease } from '@kubewright/k8s/coordination/v1'

interface Observation {
  readonly version: string
  readonly since: number
}

/**
 * Decides whether Leases have expired by the time for which this process has observed no change, on its own monotonic
 * clock. Times in the Leases are never compared, so clocks of different machines need not agree.
 */
export class LeaseObserver {
  readonly #clock: Clock
  readonly #seen = new Map<string, Observation>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Records a Lease that was just read. Must be called with every response, before `remaining`. */
  observe(lease: Lease): void {
    const { name, uid, resourceVersion } = lease.metadata
    const version = `${uid} ${resourceVersion}`
    if (this.#seen.get(name)?.version !== version) this.#seen.set(name, { version, since: this.#clock.monotonic() })
  }

  /** Whole milliseconds until an observed Lease expires unless it changes; zero or negative when it has expired. */
  remaining(lease: Lease): number {
    const since = this.#seen.get(lease.metadata.name)?.since ?? this.#clock.monotonic()
    return Math.ceil(since + (lease.spec?.leaseDurationSeconds ?? 0) * 1000 - this.#clock.monotonic())
  }

  /** Forgets all Leases except those named. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name)
  }
}
