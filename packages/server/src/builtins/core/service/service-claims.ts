import type { Clock, Logger } from '@kubewright/base'
import type { Store } from '@kubewright/storage'

/** The kinds of numbers that services claim. */
export type ClaimKind = 'ips' | 'ports'

/** A claimed number. */
export interface Claim {
  readonly kind: ClaimKind
  readonly number: number
  /** The uid of the service. */
  readonly owner: string
}

/** Outside of `/registry/`: claims are not objects of the API. */
const root = '/allocations/services/'
/**
 * Milliseconds for which a claim without a service is kept. Much longer than the deadline of a request, which may have made the claim
 * and not stored its service yet.
 */
const orphanPatience = 180_000

/**
 * Claims of cluster IPs and node ports by services, one key for each number. They exist only in a store that several servers share: the
 * store creates a key at most once, so two servers cannot allocate the same number, however far behind their view of the services is.
 *
 * Order of writes: a claim is created before its service is stored and deleted after the service no longer has the number. A server that
 * dies in between leaves a claim without a service, which {@link ServiceClaims.repair} of any server deletes later.
 */
export class ServiceClaims {
  readonly #store: Store
  readonly #clock: Clock
  readonly #log: Logger
  /** Claims without a service, by key: the revision of the claim and the time of the first observation. */
  readonly #orphans = new Map<string, { readonly revision: number; readonly since: number }>()

  constructor(parts: { store: Store; clock: Clock; log: Logger }) {
    this.#store = parts.store
    this.#clock = parts.clock
    this.#log = parts.log
  }

  /** Takes all claims or none. Resolves to those that other services hold. */
  async take(claims: readonly Claim[]): Promise<readonly Claim[]> {
    const results = await Promise.allSettled(claims.map((claim) => this.#put(claim)))
    const taken = claims.filter((_, i) => isTaken(results[i]!))
    if (taken.length === claims.length) return []
    await this.release(taken)
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    return claims.filter((claim) => !taken.includes(claim))
  }

  /** Releases the claims that still have the same owner. Failures are logged: the repair deletes the claims later. */
  async release(claims: readonly Claim[]): Promise<void> {
    await Promise.all(
      claims.map(async (claim) => {
        try {
          const { entry } = await this.#store.get(keyOf(claim))
          if (entry && ownerIn(entry.value) === claim.owner) await this.#store.delete(entry.key, entry.modRevision)
        } catch (error) {
          this.#log.error(error, 'Failed to release an address or port of a service', { key: keyOf(claim) })
        }
      }),
    )
  }

  /** All claims in the store. */
  async list(): Promise<Claim[]> {
    const { entries } = await this.#store.list({ prefix: root })
    return entries.map(({ key, value }) => ({ ...numberIn(key), owner: ownerIn(value) }))
  }

  /**
   * Adds the missing claims of stored services and deletes claims without a service, once they are old enough. `listOwned` lists the
   * numbers of all stored services. Resolves to all numbers that are in use. Safe to run on several servers.
   */
  async repair(listOwned: () => Promise<readonly Claim[]>): Promise<Claim[]> {
    // The claims first: a service that was stored after the first list cannot make its claim look orphaned.
    const { entries } = await this.#store.list({ prefix: root })
    const owned = await listOwned()
    const ownersOf = new Map<string, Set<string>>()
    for (const claim of owned) {
      const owners = ownersOf.get(keyOf(claim)) ?? new Set()
      ownersOf.set(keyOf(claim), owners.add(claim.owner))
    }
    for (const [key, owners] of ownersOf) {
      if (owners.size > 1) this.#log.error(undefined, 'Several services have the same address or port', { key })
    }
    const now = this.#clock.monotonic()
    const claimed = new Set(entries.map(({ key }) => key))
    for (const { key, value, modRevision } of entries) {
      if (ownersOf.get(key)?.has(ownerIn(value))) this.#orphans.delete(key)
      else if (this.#orphans.get(key)?.revision !== modRevision)
        this.#orphans.set(key, { revision: modRevision, since: now })
      else if (now - this.#orphans.get(key)!.since >= orphanPatience) {
        this.#orphans.delete(key)
        await this.#store.delete(key, modRevision)
        claimed.delete(key)
      }
    }
    for (const key of this.#orphans.keys()) if (!claimed.has(key)) this.#orphans.delete(key)
    for (const claim of owned) if (!claimed.has(keyOf(claim))) await this.#put(claim)
    return [...owned, ...[...claimed].map((key) => ({ ...numberIn(key), owner: '' }))]
  }

  async #put(claim: Claim): Promise<boolean> {
    return (await this.#store.put(keyOf(claim), Buffer.from(claim.owner), 0)).ok
  }
}

function isTaken(result: PromiseSettledResult<boolean>): boolean {
  return result.status === 'fulfilled' && result.value
}

function keyOf({ kind, number }: Pick<Claim, 'kind' | 'number'>): string {
  return `${root}${kind}/${number}`
}

function numberIn(key: string): Pick<Claim, 'kind' | 'number'> {
  const [kind, number] = key.slice(root.length).split('/')
  return { kind: kind as ClaimKind, number: Number(number) }
}

function ownerIn(value: Uint8Array): string {
  return Buffer.from(value).toString()
}
