import { toMicroTime } from '@kubewright/api'
import { type Clock, isValidLabelValue } from '@kubewright/base'
import { Lease } from '@kubewright/k8s/coordination/v1'
import type { LeaseCall, LeaseStore } from '../lease-store.ts'
import type { LeaseTiming } from '../lease-timing.ts'
import { hash, Rendezvous } from './rendezvous.ts'

/** Marks the Leases of the members of one group. */
const groupLabel = 'kubewright.dev/sharding'
/** The set of members that the holder works by: it only works on keys that this set gives to it. */
const membersAnnotation = 'kubewright.dev/sharding-members'

/** What a {@link MemberLease} is made of. */
export interface MemberLeaseOptions {
  readonly store: LeaseStore
  readonly leaseName: string
  readonly identity: string
  readonly timing: LeaseTiming
  readonly clock: Clock
}

/** The Lease by which a member says that it lives and which set of members it works by. */
export class MemberLease {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly #options: MemberLeaseOptions
  // As last written; undefined when what the server has is not known.
  #lease: Lease | undefined

  constructor(options: MemberLeaseOptions) {
    this.#options = options
    const readable = options.identity.toLowerCase().replace(/[^a-z0-9]+/g, '-')
    const suffix = hash(options.identity).toString(16).padStart(8, '0')
    this.name = `${options.leaseName}-${`${readable}-${suffix}`.replace(/^-/, '').slice(-80).replace(/^-/, '')}`
    this.labels = Object.freeze({ [groupLabel]: labelValue(options.leaseName) })
  }

  /** Renews the Lease and says in it by which set this member works. When it rejects, the set may or may not have been written. */
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
      throw new Error(
        `Lease ${store.namespace}/${this.name} belongs to ${known.spec?.holderIdentity}: give replicas different identities`,
      )
    }
    const labels = { ...known.metadata.labels, ...this.labels }
    const annotations = { ...known.metadata.annotations, [membersAnnotation]: set.text }
    const { acquireTime } = known.spec
    const spec = { ...known.spec, ...this.#spec(), ...(acquireTime === undefined ? {} : { acquireTime }) }
    this.#lease = await store.update({ ...known, metadata: { ...known.metadata, labels, annotations }, spec }, call)
  }

  /** Deletes the Lease, so that the others need not wait until it expires. */
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

/** The set that a member works by. One that does not say so is taken to claim every key. */
export function claimOf(lease: Lease): Rendezvous {
  const text = lease.metadata.annotations?.[membersAnnotation]
  try {
    const members: unknown = JSON.parse(text ?? '')
    if (Array.isArray(members) && members.length > 0) return new Rendezvous(members.map(String))
  } catch {
    // Written by something else.
  }
  return new Rendezvous([lease.spec?.holderIdentity ?? ''])
}

function labelValue(name: string): string {
  if (isValidLabelValue(name).length === 0) return name
  return `group-${hash(name).toString(16).padStart(8, '0')}`
}
