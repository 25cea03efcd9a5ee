import { toMicroTime } from '@kubewright/api'
import { CaughtError, type Clock, isValidLabelValue } from '@kubewright/base'
import { Lease } from '@kubewright/k8s/coordination/v1'
import type { LeaseCall, LeaseStore } from '../lease-store.ts'
import type { LeaseTiming } from '../lease-timing.ts'
import { hash, Rendezvous } from './rendezvous.ts'

/** The label of the Leases of one group. */
const groupLabel = 'kubewright.dev/sharding'
/** The annotation with the set of members that the holder works by. */
const membersAnnotation = 'kubewright.dev/sharding-members'

/** Options of a {@link MemberLease}. */
export interface MemberLeaseOptions {
  readonly store: LeaseStore
  readonly leaseName: string
  readonly identity: string
  readonly timing: LeaseTiming
  readonly clock: Clock
}

/** The Lease of one member. It proves that the member is alive and contains the set that the member works by. */
export class MemberLease {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly #options: MemberLeaseOptions
  // As last written; undefined when the state on the server is unknown.
  #lease: Lease | undefined

  constructor(options: MemberLeaseOptions) {
    this.#options = options
    const readable = options.identity.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    const suffix = hash(options.identity).toString(16).padStart(8, '0')
    this.name = `${options.leaseName}-${`${readable}-${suffix}`.replace(/^-/, '').slice(-80).replace(/^-/, '')}`
    this.labels = Object.freeze({ [groupLabel]: labelValue(options.leaseName) })
  }

  /** Renews the Lease and writes the set. When it rejects, the set may or may not have been written. */
  async write(set: Rendezvous, call: LeaseCall): Promise<void> {
    const { store, identity } = this.#options
    const known = this.#lease ?? (await store.find(this.name, call))
    this.#lease = undefined
    if (known === undefined) {
      const metadata = { name: this.name, labels: { ...this.labels }, annotations: { [membersAnnotation]: set.text } }
      this.#lease = await store.create(Lease({ metadata, spec: this.#spec() }), call)
      return
    }
    if (known.spec?.holderIdentity !== identity) {
      throw new CaughtError(
        `Lease ${store.namespace}/${this.name} belongs to ${known.spec?.holderIdentity}: give each replica a unique identity`,
      )
    }
    const labels = { ...known.metadata.labels, ...this.labels }
    const annotations = { ...known.metadata.annotations, [membersAnnotation]: set.text }
    const { acquireTime } = known.spec
    const spec = { ...known.spec, ...this.#spec(), ...(acquireTime === undefined ? {} : { acquireTime }) }
    this.#lease = await store.update({ ...known, metadata: { ...known.metadata, labels, annotations }, spec }, call)
  }

  /** Deletes the Lease, so that the other members need not wait for its expiry. */
  async remove(call: LeaseCall): Promise<void> {
    const current = await this.#options.store.find(this.name, call)
    this.#lease = undefined
    if (current?.spec?.holderIdentity === this.#options.identity) await this.#options.store.delete(current, call)
  }

  #spec(): NonNullable<Lease['spec']> {
    const { identity, timing, clock } = this.#options
    const now = toMicroTime(clock.nowMicros() / 1000)
    return {
      holderIdentity: identity,
      leaseDurationSeconds: timing.leaseDuration / 1000,
      acquireTime: now,
      renewTime: now,
    }
  }
}

/** The set that a member works by. A member without a valid set is treated as claiming every key. */
export function claimOf(lease: Lease): Rendezvous {
  const text = lease.metadata.annotations?.[membersAnnotation]
  try {
    const members: unknown = JSON.parse(text ?? '')
    if (Array.isArray(members) && members.length > 0) return new Rendezvous(members.map(String))
  } catch {
    // Not written by this package.
  }
  return new Rendezvous([lease.spec?.holderIdentity ?? ''])
}

function labelValue(name: string): string {
  if (isValidLabelValue(name).length === 0) return name
  return `group-${hash(name).toString(16).padStart(8, '0')}`
}
