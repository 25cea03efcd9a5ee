import { createHash } from 'node:crypto'
import { isConflict, isNotFound, toMicroTime } from '@kubewright/api'
import {
  type Clock,
  errorText,
  every,
  type Logger,
  type Random,
  type Timer,
  uuid,
  withDeadline,
} from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { MutableObject } from '../resource/object.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'
import { ensureKubernetesService, publishServerAddresses, type ServerAddress } from './kubernetes-service.ts'

/** The parts of the server that {@link ServerPresence} uses. */
export interface PresenceParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** How a server announces itself to the other servers on its store, and to clients. */
export interface PresenceOptions {
  /** The name of the machine. */
  readonly hostname: string
  /** The port of the server. Several servers of one machine differ in it. */
  readonly port: number
  /** The address for the endpoints of the service `kubernetes`. @default the server is not among the endpoints */
  readonly address?: string | undefined
  /** The cluster IP of the service `kubernetes`. */
  readonly clusterIp: string
}

const leaseNamespace = 'kube-system'
/** The label of identity Leases, as in kube-apiserver. */
const identityLabel = 'apiserver.kubernetes.io/identity'
const identityValue = 'kube-apiserver'
/** As in pkg/controlplane/apiserver/server.go. */
const identityLeaseSeconds = 3600
/** As in pkg/controlplane/instance.go: the period of renewals, and how long a server counts as alive without one. */
const period = 10_000
const timeToLive = 15_000
/** Milliseconds that the withdrawal may take when the store does not respond. */
const withdrawTimeout = 3000
/** The prefix of the keys of live servers. Not objects of the API, as kube-apiserver's masterleases are not either. */
const serversRoot = '/servers/'

/**
 * Announces a server while it runs: an identity Lease `apiserver-…` in kube-system, and the endpoints of the service `kubernetes`, which
 * list every live server. Each server renews a key of its own and drops the addresses of servers whose key it has not seen change for 15
 * seconds, on its own clock. Disposal withdraws the server at once.
 *
 * Every server also deletes the identity Leases of servers that have been gone for an hour, as kube-apiserver does.
 */
export class ServerPresence implements AsyncDisposable {
  /** The name of the identity Lease. */
  readonly name: string
  readonly #parts: PresenceParts
  readonly #options: PresenceOptions
  readonly #holder: string
  readonly #key: string
  readonly #store: Store
  /** The keys of other servers: their revision, and since when this server has seen it. */
  readonly #seen = new Map<string, { readonly revision: number; readonly since: number }>()
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #stopped = false

  private constructor(parts: PresenceParts, options: PresenceOptions) {
    this.#parts = parts
    this.#options = options
    this.#store = parts.registry.store
    this.name = identityName(options)
    this.#holder = `${this.name}_${uuid(parts.random)}`
    this.#key = `${serversRoot}${this.name}`
  }

  /** Announces the server. Resolves after the first attempt; failures are logged and retried. */
  static async start(parts: PresenceParts, options: PresenceOptions): Promise<ServerPresence> {
    const presence = new ServerPresence(parts, options)
    presence.#timer = every(parts.clock, period, () => presence.#enqueue(), 'presence of the server')
    presence.#enqueue()
    await presence.#running
    return presence
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.#timer?.cancel()
    await this.#running
    try {
      await withDeadline(this.#parts.clock, withdrawTimeout, 'withdraw the server', () => this.#withdraw())
    } catch (error) {
      // The store may be gone. Other servers notice the absence of this one.
      this.#parts.log.warn('Failed to withdraw the server', { server: this.name, reason: errorText(error) })
    }
  }

  /** Renewals run one after the other: a slow store must not lead to overlapping ones. */
  #enqueue(): void {
    this.#running = this.#running.then(async () => {
      if (this.#stopped) return
      try {
        await this.#renew()
      } catch (error) {
        this.#parts.log.error(error, 'Failed to announce the server; retrying', { server: this.name })
      }
    })
  }

  async #renew(): Promise<void> {
    await this.#putIdentityLease()
    await this.#deleteExpiredLeases()
    if (this.#options.address === undefined) return
    await this.#putKey()
    await this.#publish(await this.#liveServers())
  }

  async #withdraw(): Promise<void> {
    const { writer, resources } = this.#parts
    const leases = resources.find('coordination.k8s.io', 'v1', 'leases')
    if (leases) {
      await writer.delete({ resource: leases, namespace: leaseNamespace, name: this.name }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
    }
    if (this.#options.address === undefined) return
    const { entry } = await this.#store.get(this.#key)
    if (entry) await this.#store.delete(entry.key, entry.modRevision)
    await this.#publish(await this.#liveServers())
  }

  /** Creates or renews the identity Lease. */
  async #putIdentityLease(): Promise<void> {
    const { hostname } = this.#options
    const lease: MutableObject = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: this.name,
        namespace: leaseNamespace,
        labels: { [identityLabel]: identityValue, 'kubernetes.io/hostname': hostname },
      },
      spec: {
        holderIdentity: this.#holder,
        leaseDurationSeconds: identityLeaseSeconds,
        renewTime: toMicroTime(this.#parts.clock.now()),
      },
    }
    await this.#parts.writer.put('leases', lease, ['spec'])
  }

  /** As in pkg/controlplane/controller/apiserverleasegc: deletes identity Leases that have expired by their own times. */
  async #deleteExpiredLeases(): Promise<void> {
    const { registry, resources, writer, clock } = this.#parts
    const resource = resources.find('coordination.k8s.io', 'v1', 'leases')
    if (!resource) return
    const cache = await registry.feed.cache(resource.storage.prefix)
    for (const { object } of cache.list(registry.prefixOf(resource, leaseNamespace))) {
      const { name = '', labels } = object.metadata
      if (labels?.[identityLabel] !== identityValue || !isExpired(object as MutableObject, clock.now())) continue
      // The cache may lag behind a renewal.
      const live = await registry.find(resource, leaseNamespace, name)
      if (!live || !isExpired(live.object as MutableObject, clock.now())) continue
      await writer.delete({ resource, namespace: leaseNamespace, name }).catch((error: unknown) => {
        // Another server was faster.
        if (!isNotFound(error) && !isConflict(error)) throw error
      })
    }
  }

  async #putKey(): Promise<void> {
    const { address = '', port } = this.#options
    // The holder changes the value even if a server with the same name was restarted within the time to live.
    const value = Buffer.from(JSON.stringify({ address, port, holder: this.#holder }))
    for (;;) {
      const { entry } = await this.#store.get(this.#key)
      if ((await this.#store.put(this.#key, value, entry?.modRevision ?? 0)).ok) return
    }
  }

  /** The addresses of the servers whose keys have changed recently. Deletes the keys of dead servers. */
  async #liveServers(): Promise<ServerAddress[]> {
    const now = this.#parts.clock.monotonic()
    const { entries } = await this.#store.list({ prefix: serversRoot })
    const live: ServerAddress[] = []
    for (const { key, value, modRevision } of entries) {
      const seen = this.#seen.get(key)
      if (seen?.revision !== modRevision) this.#seen.set(key, { revision: modRevision, since: now })
      else if (key !== this.#key && now - seen.since >= timeToLive) {
        // Does nothing if the server has renewed the key in the meantime.
        await this.#store.delete(key, modRevision)
        continue
      }
      const server = addressIn(value)
      if (server) live.push(server)
    }
    const keys = new Set(entries.map(({ key }) => key))
    for (const key of this.#seen.keys()) if (!keys.has(key)) this.#seen.delete(key)
    return live
  }

  async #publish(servers: readonly ServerAddress[]): Promise<void> {
    const { port, clusterIp } = this.#options
    // Also after the bootstrap: a server that died before it created the service has kept the address for a while.
    if (!this.#stopped) await ensureKubernetesService(this.#parts.writer, port, clusterIp, true)
    await publishServerAddresses(this.#parts, servers)
  }
}

/** The name of the identity Lease: as that of kube-apiserver, but also unique among the servers of one machine. */
function identityName({ hostname, port }: PresenceOptions): string {
  const parts = [`${hostname}:${port}`, identityValue].map((text) => {
    const bytes = Buffer.from(text)
    return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes])
  })
  const hash = createHash('sha256').update(Buffer.concat(parts)).digest().subarray(0, 16)
  return `apiserver-${base32(hash)}`
}

/** Base32 of RFC 4648 in lower case, without padding. */
function base32(bytes: Uint8Array): string {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
  let text = ''
  let buffer = 0
  let bits = 0
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte
    bits += 8
    for (; bits >= 5; bits -= 5) text += alphabet[(buffer >> (bits - 5)) & 31]
    buffer &= (1 << bits) - 1
  }
  return bits > 0 ? text + alphabet[(buffer << (5 - bits)) & 31] : text
}

function isExpired(lease: MutableObject, now: number): boolean {
  const { renewTime, leaseDurationSeconds } = (lease['spec'] ?? {}) as {
    readonly renewTime?: string | undefined
    readonly leaseDurationSeconds?: number | undefined
  }
  if (renewTime === undefined || leaseDurationSeconds === undefined) return true
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 < now
}

function addressIn(value: Uint8Array): ServerAddress | undefined {
  try {
    const { address, port } = JSON.parse(Buffer.from(value).toString()) as ServerAddress
    return typeof address === 'string' && typeof port === 'number' ? { address, port } : undefined
  } catch {
    // Written by another version.
    return undefined
  }
}
