import { isAlreadyExists, isConflict, isForbidden, toMicroTime } from '@kubewright/api'
import {
  CaughtError,
  type Clock,
  errorText,
  jitter,
  type Logger,
  linkSignals,
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

/** Options of a {@link LeaderElector}. */
export interface LeaderElectorOptions {
  readonly store: LeaseStore
  readonly leaseName: string
  /** Must be unique among the replicas. */
  readonly identity: string
  readonly timing: LeaseTiming
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  readonly events?: EventRecorder | undefined
}

// How long a Lease may be overdue before `check` fails, as in kube-controller-manager.
const watchdogPatience = 20_000

/**
 * Campaigns for a Lease and renews it. Compatible with client-go's elector on the wire, with one stricter guarantee:
 * its gate closes `renewDeadline` after the start of the last successful renewal, which is before any other candidate
 * can have observed the expiry. The gates of two candidates are therefore never open at the same time.
 *
 * Usage: call `acquire`, then `keep`, which returns when the Lease is lost. When all work of that term has ended, call
 * `acquire` again.
 */
export class LeaderElector {
  readonly #options: LeaderElectorOptions
  readonly #gate: LeaseGate
  readonly #observer: LeaseObserver
  readonly #labels: MetricLabels
  // As last read or written. The next optimistic update uses its version.
  #lease: Lease | undefined
  #renewedAt = Number.NEGATIVE_INFINITY
  // Also true after a write whose outcome is unknown.
  #mayHold = false
  #reportedHolder = ''
  #lastError: string | undefined

  constructor(options: LeaderElectorOptions) {
    this.#options = options
    this.#gate = new LeaseGate(options.clock, `the lease ${options.store.namespace}/${options.leaseName}`)
    this.#observer = new LeaseObserver(options.clock)
    this.#labels = Object.freeze({ name: options.leaseName })
    this.#report(0)
    options.metrics?.add('leader_election_slowpath_total', this.#labels, 0)
  }

  /** Open while it is certain that this process leads. */
  get gate(): WriteGate {
    return this.#gate
  }

  get isLeader(): boolean {
    return this.#gate.isOpen
  }

  /** The namespace and name of the Lease. */
  get lease(): string {
    return `${this.#options.store.namespace}/${this.#options.leaseName}`
  }

  /** The last observed holder; empty when there is none. */
  get holder(): string {
    return this.#lease?.spec?.holderIdentity ?? ''
  }

  /** Resolves when this process leads. Failed requests are logged and retried forever. */
  async acquire({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { random, log, timing } = this.#options
    log.info('Attempting to acquire leader lease...', { lock: this.lease })
    for (;;) {
      signal.throwIfAborted()
      if (await this.#attempt(signal, (until) => this.#gate.open(until))) break
      // If the expiry of the Lease is known, there is no need to wait longer.
      const expiry = this.#lease === undefined ? 0 : this.#observer.remaining(this.#lease)
      const pause = jitter(timing.retryPeriod, acquireJitter, random)
      await this.#waitForRelease(expiry > 0 ? Math.min(pause, expiry) : pause, signal)
    }
    log.info('Successfully acquired lease', { lock: this.lease })
    this.#report(1)
    this.#record('became leader')
  }

  // Waits for the given time, or less when the store reports that the Lease was released. Rejects when the signal aborts.
  async #waitForRelease(millis: number, signal: AbortSignal): Promise<void> {
    const { clock, store } = this.#options
    const lease = this.#lease
    if (store.released === undefined || lease === undefined || this.holder === '')
      return clock.sleep(millis, { signal })
    const link = linkSignals(signal)
    const slept = clock.sleep(millis, { signal: link.signal })
    // A renewal counts from when the watch reports it, not from the next poll, so that an expiry is noticed on time.
    const onRenewed = (renewed: Lease): void => this.#observer.observe(renewed)
    const woken = store.released(lease, { signal: link.signal, onRenewed }).then(
      (released) => (released ? undefined : slept),
      // A watch that fails must not cause retries without a pause.
      () => slept,
    )
    try {
      await Promise.race([slept, woken])
    } finally {
      // Ends the sleep and the watch; the loser of the race rejects or resolves unobserved.
      slept.catch(() => undefined)
      woken.catch(() => undefined)
      link.abort()
    }
  }

  /**
   * Renews until the Lease is lost, then resolves with the gate closed. Rejects when the signal aborts, with the gate
   * still open.
   */
  async keep({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { clock, timing, log } = this.#options
    for (;;) {
      // Never sleeps past the closing of the gate, so that the loss is reported at once.
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

  /** Closes the gate and releases the Lease if this process holds it. Must be called after all work has ended. */
  async release(): Promise<void> {
    const { clock, log, timing } = this.#options
    const led = this.#gate.isOpen
    this.#gate.close()
    this.#report(0)
    // Never held the Lease, so there is nothing to release.
    if (this.#mayHold) {
      try {
        await withDeadline(clock, timing.renewDeadline, `release lease ${this.lease}`, (signal) => this.#giveUp(signal))
      } catch (error) {
        log.error(error, 'Failed to release lease', { lock: this.lease })
      }
    }
    if (led) this.#record('stopped leading')
  }

  /** Closes the gate and lets the Lease expire, because work of this process may still be running. */
  abandon(): void {
    this.#gate.close()
    this.#report(0)
  }

  /** Why the last attempt to read or write the Lease failed, and the fix; undefined when it succeeded. */
  problem(): string | undefined {
    return this.#lastError
  }

  /** Throws when this process holds a Lease that is long overdue: it hangs and should be restarted. */
  check(): void {
    if (this.holder !== this.#options.identity || !Number.isFinite(this.#renewedAt)) return
    const overdue = this.#options.clock.monotonic() - this.#renewedAt - this.#options.timing.leaseDuration
    if (overdue > watchdogPatience) {
      throw new CaughtError(`failed election to renew leadership on lease ${this.#options.leaseName}`)
    }
  }

  // One attempt, aborted when the gate closes.
  async #renew(signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#options
    const attempt = (inner: AbortSignal): Promise<boolean> => this.#attempt(inner, (until) => this.#gate.extend(until))
    try {
      return await withDeadline(clock, this.#gate.remaining, `renew lease ${this.lease}`, attempt, { signal })
    } catch {
      return false
    }
  }

  // `won` receives the time until which the gate may be open; its result decides whether the attempt succeeded.
  async #attempt(signal: AbortSignal, won: (until: number) => boolean): Promise<boolean> {
    const { clock, log, timing, store, identity, leaseName, metrics } = this.#options
    const call = { signal, timeout: timing.requestTimeout }
    const write = async (request: () => Promise<Lease>): Promise<boolean> => {
      // Counted from the start of the request: no candidate can have observed its effect earlier.
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
      // Another candidate wrote first. That is not a failure.
      if (isConflict(error) || isAlreadyExists(error))
        log.debug('Another candidate wrote the lease first', { lock: this.lease })
      else if (!signal.aborted) this.#failed(error)
      return false
    }
  }

  #failed(error: unknown): void {
    const fix = isForbidden(error)
      ? ` (grant get, create and update of leases.coordination.k8s.io in namespace ${this.#options.store.namespace})`
      : ''
    this.#lastError = `lease ${this.lease}: ${errorText(error)}${fix}`
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
        // A missing permission will not be granted while the process stops.
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
    this.#lastError = undefined
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
