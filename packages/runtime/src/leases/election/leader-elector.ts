import { isAlreadyExists, isConflict, isForbidden, toMicroTime } from '@kubewright/api'
import {
  type Clock,
  errorText,
  jitter,
  type Logger,
  type MetricLabels,
  type MetricSink,
  type Random,
  withDeadline,
} from '@kubewright/base'
import { Lease } from '@kubewright/k8s/coordination/v1'
import type { EventRecorder } from '../../telemetry/events/event-recorder.ts'
import { LeaseGate } from '../lease-gate.ts'
import { LeaseObserver } from '../lease-observer.ts'
import type { LeaseStore } from '../lease-store.ts'
import { acquireJitter, type LeaseTiming } from '../lease-timing.ts'
import type { WriteGate } from '../write-gate.ts'

/** What a {@link LeaderElector} is made of. */
export interface LeaderElectorOptions {
  readonly store: LeaseStore
  readonly leaseName: string
  /** Must differ from that of every other replica. */
  readonly identity: string
  readonly timing: LeaseTiming
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  readonly events?: EventRecorder | undefined
}

// How long a lease may be overdue before the watchdog asks for a restart: the time that kube-controller-manager allows.
const watchdogPatience = 20_000

/**
 * Campaigns for a Lease and keeps it. Compatible with client-go's elector on the wire, and stricter in one way: its gate closes
 * `renewDeadline` after the start of the last renewal that succeeded, which is before any other candidate can have seen the lease
 * expire. So there is never a moment in which the gates of two candidates are open.
 *
 * Use: `acquire`, then `keep`, which ends when the lease is lost; then, when all work of that term has ended, `acquire` again.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #gate: LeaseGate
  readonly #observer: LeaseObserver
  readonly #labels: MetricLabels
  // As last read or written; its version is what the next optimistic update builds on.
  #lease: Lease | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  // Also true after a write whose outcome is unknown.
  #mayHold = false
  #reportedHolder = ''
  #trouble: string | undefined

  constructor(options: LeaderElectorOptions) {
    this.#options = options
    this.#gate = new LeaseGate(options.clock, `the lease ${options.store.namespace}/${options.leaseName}`)
    this.#observer = new LeaseObserver(options.clock)
    this.#labels = Object.freeze({ name: options.leaseName })
    this.#report(0)
    options.metrics?.add('leader_election_slowpath_total', this.#labels, 0)
  }

  /** Open while this process can be sure that it leads. */
  get gate(): WriteGate {
    return this.#gate
  }

  get isLeader(): boolean {
    return this.#gate.isOpen
  }

  /** Where the lease is: namespace and name. */
  get lease(): string {
    return `${this.#options.store.namespace}/${this.#options.leaseName}`
  }

  /** The holder as last seen; empty when there is none. */
  get holder(): string {
    return this.#lease?.spec?.holderIdentity ?? ''
  }

  /** Resolves when this process leads. Failing requests are logged and repeated for ever. */
  async acquire({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { clock, random, log, timing } = this.#options
    log.info('Attempting to acquire leader lease...', { lock: this.lease })
    for (;;) {
      signal.throwIfAborted()
      if (await this.#attempt(signal, (until) => this.#gate.open(until))) break
      // Whoever sees when the lease will expire need not wait longer than that.
      const expiry = this.#lease === undefined ? 0 : this.#observer.remaining(this.#lease)
      const pause = jitter(timing.retryPeriod, acquireJitter, random)
      await clock.sleep(expiry > 0 ? Math.min(pause, expiry) : pause, { signal })
    }
    log.info('Successfully acquired lease', { lock: this.lease })
    this.#report(1)
    this.#record('became leader')
  }

  /** Renews until the lease is lost, then resolves with the gate closed; rejects when the signal aborts, with the gate still open. */
  async keep({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { clock, timing, log } = this.#options
    for (;;) {
      // Never sleeps past the closing of the gate, so that the end is told at once.
      await clock.sleep(Math.min(timing.retryPeriod, this.#gate.remaining), { signal })
      if (!this.#gate.isOpen) break
      if (await this.#renew(signal)) continue
      signal.throwIfAborted()
      if (!this.#gate.isOpen || this.holder !== this.#options.identity) break
    }
    this.#gate.close()
    this.#report(0)
    log.warn('Failed to renew lease', { lock: this.lease, holder: this.holder })
    this.#record('stopped leading')
  }

  /** Closes the gate and, if the lease is still this process's, lets others have it at once. To be called when all work has ended. */
  async release(): Promise<void> {
    const { clock, log, timing } = this.#options
    const led = this.#gate.isOpen
    this.#gate.close()
    this.#report(0)
    // Whoever never had it has nothing to give back, and nothing to say if the server is out of reach.
    if (this.#mayHold) {
      try {
        await withDeadline(clock, timing.renewDeadline, `release lease ${this.lease}`, (signal) => this.#giveUp(signal))
      } catch (error) {
        log.error(error, 'Failed to release lease', { lock: this.lease })
      }
    }
    if (led) this.#record('stopped leading')
  }

  /** Closes the gate and leaves the lease to expire, because work of this process may still be going on. */
  abandon(): void {
    this.#gate.close()
    this.#report(0)
  }

  /** Why the lease could not be read or written at the last attempt, and the cure; undefined when it could. */
  problem(): string | undefined {
    return this.#trouble
  }

  /** Throws when this process seems to hold a lease that it stopped to renew long ago: it hangs and should be restarted. */
  check(): void {
    if (this.holder !== this.#options.identity || !Number.isFinite(this.#renewedAt)) return
    const overdue = this.#options.clock.monotonic() - this.#renewedAt - this.#options.timing.leaseDuration
    if (overdue > watchdogPatience) {
      throw new Error(`failed election to renew leadership on lease ${this.#options.leaseName}`)
    }
  }

  // One attempt, cut off when the gate closes.
  async #renew(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options
    const attempt = (inner: AbortSignal): Promise<boolean> => this.#attempt(inner, (until) => this.#gate.extend(until))
    try {
      return await withDeadline(clock, this.#gate.remaining, `renew lease ${this.lease}`, attempt, { signal })
    } catch {
      return false
    }
  }

  // `won` is told until when the gate may be open; what it answers decides whether the attempt counts.
  async #attempt(signal: AbortSignal, won: (until: number) => boolean): Promise<boolean> {
    const { clock, log, timing, store, identity, leaseName, metrics } = this.#options
    const call = { signal, timeout: timing.requestTimeout }
    const write = async (request: () => Promise<Lease>): Promise<boolean> => {
      // From the start of the request: nobody can have seen its effect earlier.
      const started = clock.monotonic()
      this.#mayHold = true
      this.#note(await request())
      this.#renewedAt = started
      return won(started + timing.renewDeadline)
    }
    try {
      const held = this.#lease
      if (held !== undefined && this.holder === identity && this.#observer.remaining(held) > 0) {
        try {
          return await write(() => store.update(this.#renewed(held), call))
        } catch (error) {
          signal.throwIfAborted()
          log.debug('Failed to update lease optimistically, falling back to slow path', {
            lock: this.lease,
            reason: errorText(error),
          })
        }
      }
      const current = await store.find(leaseName, call)
      if (current === undefined) {
        const draft = { metadata: { name: leaseName }, spec: this.#claim(0) }
        return await write(() => store.create(Lease(draft), call))
      }
      this.#note(current)
      if (this.holder !== '' && this.holder !== identity && this.#observer.remaining(current) > 0) return false
      if (this.holder === identity) metrics?.add('leader_election_slowpath_total', this.#labels, 1)
      return await write(() => store.update(this.#renewed(current), call))
    } catch (error) {
      // Losing a race is no failure.
      if (isConflict(error) || isAlreadyExists(error)) log.debug('Another candidate was faster', { lock: this.lease })
      else if (!signal.aborted) this.#failed(error)
      return false
    }
  }

  #failed(error: unknown): void {
    const cure = isForbidden(error)
      ? ` (grant get, create and update of leases.coordination.k8s.io in namespace ${this.#options.store.namespace})`
      : ''
    this.#trouble = `lease ${this.lease}: ${errorText(error)}${cure}`
    this.#options.log.error(error, 'Failed to update lease', { lock: this.lease })
  }

  async #giveUp(signal: AbortSignal): Promise<void> {
    const { store, identity, leaseName, timing, clock } = this.#options
    const call = { signal, timeout: timing.requestTimeout }
    for (;;) {
      const current = await store.find(leaseName, call)
      if (current?.spec?.holderIdentity !== identity) return
      const now = this.#now()
      const spec = { ...current.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
      try {
        this.#note(await store.update({ ...current, spec }, call))
        return
      } catch (error) {
        signal.throwIfAborted()
        // A right that is missing does not come while the process stops.
        if (isForbidden(error)) throw error
        if (!isConflict(error)) await clock.sleep(timing.retryPeriod, { signal })
      }
    }
  }

  #renewed(lease: Lease): Lease {
    const { spec = {} } = lease
    const mine = spec.holderIdentity === this.#options.identity
    const { leaseTransitions = 0, acquireTime } = spec
    const claim = this.#claim(mine ? leaseTransitions : leaseTransitions + 1)
    return { ...lease, spec: { ...spec, ...claim, ...(mine && acquireTime !== undefined ? { acquireTime } : {}) } }
  }

  #claim(leaseTransitions: number): NonNullable<Lease['spec']> {
    const now = this.#now()
    return {
      holderIdentity: this.#options.identity,
      leaseDurationSeconds: this.#options.timing.leaseDuration / 1000,
      acquireTime: now,
      renewTime: now,
      leaseTransitions,
    }
  }

  #note(lease: Lease): void {
    this.#lease = lease
    this.#mayHold = this.holder === this.#options.identity
    this.#trouble = undefined
    this.#observer.observe(lease)
    if (this.holder !== '' && this.holder !== this.#reportedHolder) {
      this.#reportedHolder = this.holder
      this.#options.log.info('New leader elected', { lock: this.lease, leader: this.holder })
    }
  }

  #report(status: number): void {
    this.#options.metrics?.set('leader_election_master_status', this.#labels, status)
  }

  #record(what: string): void {
    if (this.#lease === undefined) return
    const message = `${this.#options.identity} ${what}`
    this.#options.events?.record(this.#lease, { type: 'Normal', reason: 'LeaderElection', message })
  }

  #now(): string {
    return toMicroTime(this.#options.clock.nowMicros() / 1000)
  }
}
