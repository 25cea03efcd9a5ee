import type { Clock } from '@kubewright/base'
import type { Lease } from '@kubewright/k8s/coordination/v1'

interface Observation {
  readonly version: string
  readonly since: number
}

/**
 * Judges whether Leases have expired by the only time that can be trusted: how long this process has seen no change of them, on its
 * own monotonic clock. Times that others wrote are never compared, so clocks need not agree.
 */
export class LeaseObserver {
  readonly #clock: Clock
  readonly #seen = new Map<string, Observation>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Takes note of a Lease that was just read: to be called with every fresh answer, before it is judged. */
  observe(lease: Lease): void {
    const { name, uid, resourceVersion } = lease.metadata
    const version = `${uid} ${resourceVersion}`
    if (this.#seen.get(name)?.version !== version) this.#seen.set(name, { version, since: this.#clock.monotonic() })
  }

  /** Whole milliseconds after which an observed Lease has expired unless it changes; zero or less when it has. */
  remaining(lease: Lease): number {
    const since = this.#seen.get(lease.metadata.name)?.since ?? this.#clock.monotonic()
    return Math.ceil(since + (lease.spec?.leaseDurationSeconds ?? 0) * 1000 - this.#clock.monotonic())
  }

  /** Forgets the Leases that are not among those named. */
  keepOnly(names: ReadonlySet<string>): void {
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name)
  }
}
