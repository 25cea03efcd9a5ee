import { isConflict } from '@kubewright/api'
import { abortable, Deferred, errorText, type MetricLabels, onAbort, type Timer, withDeadline } from '@kubewright/base'
import type { Lease } from '@kubewright/k8s/coordination/v1'
import { LeaseGate } from '../lease-gate.ts'
import { LeaseObserver } from '../lease-observer.ts'
import type { LeaseCall } from '../lease-store.ts'
import { NotLeaderError } from '../not-leader-error.ts'
import type { KeyGate, KeyHold, WriteGate } from '../write-gate.ts'
import { HeldKeys } from './held-keys.ts'
import { claimOf, MemberLease } from './member-lease.ts'
import { Rendezvous } from './rendezvous.ts'
import type { Sharding, ShardingParts } from './sharding.ts'

/**
 * Shares keys among replicas. Each replica has its own Lease, which contains the set of members that the replica works
 * by: it works only on keys that this set assigns to it. A replica takes a key only when
 *
 * 1. the set in its own Lease, as confirmed by the server, assigns the key to it, and
 * 2. a list of the Leases that was read after that contains no other live member whose set assigns the key to that
 *    member.
 *
 * Of two replicas that both claim a key, the one that wrote later reads the claim of the other one, so they never both
 * take it. A replica that loses keys to a new set finishes its work on them before it writes the new set. A replica
 * that cannot renew its Lease stops before any other replica can have observed the expiry.
 */
export function createSharding(parts: ShardingParts): Sharding {
  return new ShardMember(parts)
}

interface Claim {
  readonly member: string
  readonly set: Rendezvous
}

class ShardMember implements Sharding, KeyGate {
  readonly #parts: ShardingParts
  readonly #gate: LeaseGate
  readonly #observer: LeaseObserver
  readonly #lease: MemberLease
  readonly #held = new HeldKeys()
  readonly #listeners = new Set<() => void>()
  readonly #labels: MetricLabels
  // The members that should share the keys, as far as this process knows.
  #wanted: Rendezvous
  // The sets that our Lease on the server may contain: the confirmed one and those of writes whose outcome is unknown.
  #possible: readonly Rendezvous[] = []
  // The set that was confirmed before the claims of others were last read; undefined while this process has no share.
  #effective: Rendezvous | undefined
  // Live members that work by another set than ours.
  #claims: readonly Claim[] = []
  // Leases of members that expired long ago, as last read.
  #dead: Lease[] = []
  #term = new AbortController()
  #firstJoin = new Deferred()
  #lapse: Timer | undefined
  #wake: () => void = () => undefined
  #lastError: string | undefined

  constructor(parts: ShardingParts) {
    this.#parts = parts
    this.#gate = new LeaseGate(
      parts.clock,
      `its share of the keys (leases ${parts.store.namespace}/${parts.leaseName}-*)`,
    )
    this.#observer = new LeaseObserver(parts.clock)
    this.#lease = new MemberLease(parts)
    this.#wanted = new Rendezvous([parts.identity])
    this.#labels = Object.freeze({ name: parts.leaseName })
    this.#measure()
  }

  get keys(): KeyGate {
    return this
  }

  get gate(): WriteGate {
    return this.#gate
  }

  get members(): readonly string[] {
    return this.#wanted.members
  }

  get joined(): boolean {
    return this.#effective !== undefined && this.#gate.isOpen
  }

  get held(): number {
    return this.#held.size
  }

  hold(key: string): KeyHold | undefined {
    if (!this.#mayHold(key)) return undefined
    const release = this.#held.take(key, () => {
      // This may have been the last key that blocked a new set, or rejoining.
      const waiting = this.#effective === undefined || this.#wanted.text !== this.#effective.text
      if (waiting && (this.#held.size === 0 || this.#next() === this.#wanted)) this.#wake()
    })
    return { lost: this.#term.signal, [Symbol.dispose]: release }
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }

  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { log, timing } = this.#parts
    while (!signal.aborted) {
      let again = false
      try {
        again = await this.#cycle(signal)
        this.#lastError = undefined
      } catch (error) {
        if (signal.aborted) break
        this.#lastError = errorText(error)
        if (isConflict(error))
          log.debug('Membership lease was not renewed: another write came first', { lease: this.#lease.name })
        else log.error(error, 'Sharding failed; retrying', { lease: this.#lease.name })
      }
      if (!again) await this.#pause(timing.retryPeriod, signal)
    }
  }

  waitUntilJoined({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    return abortable(this.#firstJoin.promise, signal)
  }

  async leave(): Promise<void> {
    const { clock, timing, log } = this.#parts
    this.abandon()
    try {
      const remove = (signal: AbortSignal): Promise<void> => this.#lease.remove({ signal })
      await withDeadline(clock, timing.renewDeadline, `delete lease ${this.#lease.name}`, remove)
    } catch (error) {
      log.error(error, 'Failed to delete the membership lease', { lease: this.#lease.name })
    }
  }

  abandon(): void {
    this.#lapse?.cancel()
    this.#gate.close()
    this.#lose('stopped')
  }

  problem(): string | undefined {
    if (!this.joined && this.#held.size > 0) {
      return `sharding: waiting for ${this.#held.size} reconciles to end before rejoining: ${this.#someHeld()}`
    }
    if (!this.joined) return `sharding: not joined${this.#lastError === undefined ? '' : `: ${this.#lastError}`}`
    return this.#lastError === undefined ? undefined : `sharding: ${this.#lastError}`
  }

  #mayHold(key: string): boolean {
    const { identity } = this.#parts
    if (this.#effective === undefined || !this.#gate.isOpen) return false
    if (this.#effective.owner(key) !== identity || this.#wanted.owner(key) !== identity) return false
    for (const set of this.#possible) if (set !== this.#effective && set.owner(key) !== identity) return false
    for (const { member, set } of this.#claims) if (set.owner(key) === member) return false
    return true
  }

  // Writes the set that this replica works by, then reads the claims of the others. Returns true when there is more to
  // do at once.
  async #cycle(signal: AbortSignal): Promise<boolean> {
    const { clock, timing } = this.#parts
    const call = { signal, timeout: timing.requestTimeout }
    // Work that began before the share was lost must not be able to write with a new share.
    if (this.#effective === undefined && this.#held.size > 0) return false
    if (this.#possible.length === 0) this.#look(await this.#parts.store.list(this.#lease.labels, call))
    const set = this.#next()
    if (!this.#possible.some(({ text }) => text === set.text)) this.#possible = [...this.#possible, set]
    const started = clock.monotonic()
    await this.#lease.write(set, call)
    this.#possible = [set]
    const until = started + timing.renewDeadline
    if (this.#gate.extend(until)) this.#arm()
    else this.#lose('its lease was not renewed in time')
    const changed = this.#look(await this.#parts.store.list(this.#lease.labels, call))
    await this.#deleteDead(call)
    if (this.#effective?.text !== set.text || changed) this.#settle(set, until)
    return this.#next().text !== set.text
  }

  // The set to work by: the wanted one, unless a key that it would give away is in process.
  #next(): Rendezvous {
    const { identity } = this.#parts
    const current = this.#effective
    if (current === undefined || current.text === this.#wanted.text) return this.#wanted
    for (const key of this.#held.keys()) if (this.#wanted.owner(key) !== identity) return current
    return this.#wanted
  }

  // Processes a list of the Leases; returns true when the claims of others have changed.
  #look(leases: readonly Lease[]): boolean {
    const { identity, log, timing } = this.#parts
    const live: Claim[] = []
    for (const lease of leases) {
      this.#observer.observe(lease)
      const member = lease.spec?.holderIdentity ?? ''
      if (member === '' || member === identity || this.#observer.remaining(lease) <= 0) continue
      live.push({ member, set: claimOf(lease) })
    }
    this.#dead = leases.filter((lease) => this.#observer.remaining(lease) < -timing.leaseDuration)
    this.#observer.keepOnly(new Set(leases.map(({ metadata }) => metadata.name)))
    const wanted = new Rendezvous([identity, ...live.map(({ member }) => member)])
    if (wanted.text !== this.#wanted.text) {
      log.info('Members of the shard group changed', { members: wanted.members })
      this.#wanted = wanted
      this.#measure()
    }
    const claims = live.filter(({ set }) => set.text !== this.#possible[0]?.text)
    const before = describe(this.#claims)
    this.#claims = claims
    return describe(claims) !== before
  }

  // Takes the share that the confirmed set assigns, now that the claims of others are known.
  #settle(set: Rendezvous, until: number): void {
    if (!this.#gate.isOpen) {
      if (this.#held.size > 0 || !this.#gate.open(until)) return
      if (this.#term.signal.aborted) this.#term = new AbortController()
      this.#arm()
    }
    this.#effective = set
    this.#measure()
    this.#firstJoin.resolve()
    for (const listener of [...this.#listeners]) listener()
  }

  #lose(why: string): void {
    if (this.#effective === undefined) return
    this.#effective = undefined
    this.#measure()
    this.#parts.log.warn('Share of the keys lost', { lease: this.#lease.name, why, working: this.#held.size })
    this.#term.abort(new NotLeaderError(`This process lost its share of the keys: ${why}`))
  }

  // Detects the loss on time, even while a request hangs.
  #arm(): void {
    this.#lapse?.cancel()
    const { clock } = this.#parts
    const onLapse = (): void => {
      if (this.#gate.isOpen) this.#arm()
      else this.#lose('its lease was not renewed in time')
    }
    this.#lapse = clock.setTimer(this.#gate.remaining, onLapse, 'end of a share')
  }

  // Deletes the Leases of members that ended without deleting theirs.
  async #deleteDead(call: LeaseCall): Promise<void> {
    for (const lease of this.#dead.splice(0)) {
      try {
        await this.#parts.store.delete(lease, call)
      } catch (error) {
        // Another replica deleted it, or the member is alive again.
        if (!isConflict(error)) throw error
      }
    }
  }

  #pause(time: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel()
        stopListening()
        this.#wake = () => undefined
        resolve()
      }
      const timer = this.#parts.clock.setTimer(time, end, 'next renewal of a share')
      this.#wake = end
      const stopListening = onAbort(signal, () => end())
    })
  }

  #measure(): void {
    const { metrics } = this.#parts
    metrics?.set('kubewright_sharding_members', this.#labels, this.#wanted.members.length)
    metrics?.set('kubewright_sharding_joined', this.#labels, this.#effective === undefined ? 0 : 1)
  }

  #someHeld(): string {
    const keys = [...this.#held.keys()]
    return keys.length > 3 ? `${keys.slice(0, 3).join(', ')}, ...` : keys.join(', ')
  }
}

const describe = (claims: readonly Claim[]): string => claims.map(({ member, set }) => `${member} ${set.text}`).join()
