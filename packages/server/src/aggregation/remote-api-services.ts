import { isConflict, isNotFound } from '@kubewright/api'
import { every, formatRFC3339, instantFromMillis, type Timer } from '@kubewright/base'
import type { DiscoveryIndex, RemoteVersion } from '../discovery/discovery-index.ts'
import { findEndpointSlices, findService, localAddressAnnotation } from '../outgoing/service-resolver.ts'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import type { PathHandler } from '../request/path-handler.ts'
import type { AggregationParts } from './aggregation-parts.ts'
import { type Availability, availabilityOf, type RemoteApiService } from './api-service-condition.ts'
import type { ExtensionServers } from './extension-servers.ts'
import { proxyRequest, unavailable } from './proxy-request.ts'
import { fetchDiscovery, fetchOpenApiUrl, type RemoteResources } from './remote-discovery.ts'

/** Reachability can change without any change of an object. */
const resyncPeriod = 30_000
const firstRetry = 100

/** Options of {@link RemoteApiServices}. */
export interface RemoteApiServicesOptions {
  readonly parts: AggregationParts
  readonly lookup: ObjectLookup
  readonly servers: ExtensionServers
  /** Receives the resources of extension servers. */
  readonly discovery?: DiscoveryIndex | undefined
}

interface Entry {
  service: RemoteApiService
  /** Identifies the inputs of the last check. */
  signature: string
  resources: RemoteResources
  openApi: string | undefined
  /** Whether the last attempt to read the discovery succeeded. */
  fresh: boolean
  /** Consecutive failed checks, for the back-off. */
  failures: number
  /** The running check; there is never more than one per APIService. */
  checking: Promise<void> | undefined
  /** Whether to check again after the running check. */
  again: boolean
  retry: Timer | undefined
}

/** The APIServices of extension servers: checks their availability, publishes their discovery and proxies requests to them. */
export class RemoteApiServices {
  readonly #options: RemoteApiServicesOptions
  readonly #entries = new Map<string, Entry>()
  #resync: Timer | undefined

  constructor(options: RemoteApiServicesOptions) {
    this.#options = options
    options.parts.signal.addEventListener('abort', () => this.#stop(), { once: true })
  }

  get size(): number {
    return this.#entries.size
  }

  /** Sets the current APIServices. Checks run in the background; checks of the same APIService never overlap. */
  async update(services: readonly RemoteApiService[]): Promise<void> {
    const names = new Set(services.map(({ metadata }) => metadata.name!))
    for (const [name, entry] of this.#entries) {
      if (names.has(name)) continue
      entry.retry?.cancel()
      this.#entries.delete(name)
      this.#publish()
    }
    for (const service of services) {
      const name = service.metadata.name!
      const entry = this.#entries.get(name)
      const signature = await this.#signatureOf(service)
      if (entry) entry.service = service
      if (entry?.signature === signature) continue
      const next: Entry = entry ?? {
        service,
        signature,
        resources: [],
        openApi: undefined,
        fresh: false,
        failures: 0,
        checking: undefined,
        again: false,
        retry: undefined,
      }
      next.signature = signature
      this.#entries.set(name, next)
      if (!entry) this.#publish()
      this.#check(next)
    }
    this.#keepChecking()
  }

  /** Resolves when no check is running. */
  async idle(): Promise<void> {
    for (const { checking } of this.#entries.values()) await checking
  }

  /** Proxies requests for the group versions of extension servers. */
  readonly paths: PathHandler = (context) => {
    if (this.#entries.size === 0) return undefined
    const [, group, version] = /^(?:\/openapi\/v3)?\/apis\/([^/]+)\/([^/]+)/.exec(context.info.path) ?? []
    const entry = this.#entries.get(`${version}.${group}`)
    if (!entry) return undefined
    if (!isAvailable(entry.service)) return unavailable('service unavailable')
    return proxyRequest(this.#options.servers, entry.service, context)
  }

  #keepChecking(): void {
    if (this.#entries.size === 0) {
      this.#resync?.cancel()
      this.#resync = undefined
    } else {
      const checkAll = (): void => {
        for (const entry of this.#entries.values()) this.#check(entry)
      }
      this.#resync ??= every(this.#options.parts.clock, resyncPeriod, checkAll, 'check of extension servers')
    }
  }

  #stop(): void {
    this.#resync?.cancel()
    for (const { retry } of this.#entries.values()) retry?.cancel()
    this.#entries.clear()
  }

  #check(entry: Entry): void {
    entry.retry?.cancel()
    entry.again = true
    entry.checking ??= this.#run(entry).finally(() => {
      entry.checking = undefined
      // A check was requested after the last one had started.
      if (entry.again && this.#isCurrent(entry)) this.#check(entry)
    })
  }

  async #run(entry: Entry): Promise<void> {
    const { parts, lookup, servers } = this.#options
    while (entry.again && this.#isCurrent(entry)) {
      entry.again = false
      try {
        const now = await availabilityOf(entry.service, lookup, servers)
        if (!this.#isCurrent(entry)) return
        // Discovery comes first: an available APIService can be discovered.
        await this.#discover(entry, now)
        await this.#writeStatus(entry, now)
        entry.failures = now.reason === 'FailedDiscoveryCheck' ? entry.failures + 1 : 0
      } catch (error) {
        entry.failures++
        // A conflicting write is a change itself and triggers the next check.
        if (!isConflict(error) && !isNotFound(error)) {
          parts.log.error(error, 'Failed to check an APIService', { name: entry.service.metadata.name })
        }
      }
    }
    if (entry.failures === 0 || !this.#isCurrent(entry)) return
    // Exponential back-off. The periodic check continues in addition.
    const delay = Math.min(firstRetry * 2 ** entry.failures, resyncPeriod)
    entry.retry = parts.clock.setTimer(delay, () => this.#check(entry), 'check of an extension server')
  }

  async #writeStatus({ service }: Entry, now: Availability): Promise<void> {
    const { parts } = this.#options
    const conditions = service.status?.conditions ?? []
    const before = conditions.find(({ type }) => type === 'Available')
    if (before?.status === now.status && before.reason === now.reason && before.message === now.message) return
    const lastTransitionTime =
      before?.status === now.status && before.lastTransitionTime !== undefined
        ? before.lastTransitionTime
        : formatRFC3339(instantFromMillis(parts.clock.now()))
    const condition = { type: 'Available', lastTransitionTime, ...now }
    const next = before ? conditions.map((old) => (old === before ? condition : old)) : [...conditions, condition]
    await parts.writer.putStatus('apiservices', { ...service, status: { ...service.status, conditions: next } })
  }

  async #discover(entry: Entry, { status }: Availability): Promise<void> {
    const before = JSON.stringify([entry.fresh, entry.openApi, entry.resources])
    entry.fresh = false
    if (status === 'True') {
      try {
        entry.resources = await fetchDiscovery(entry.service, this.#options.servers)
        entry.openApi = await fetchOpenApiUrl(entry.service, this.#options.servers)
        entry.fresh = true
      } catch (error) {
        this.#options.parts.log.error(error, 'Failed to read the discovery of an extension server', {
          name: entry.service.metadata.name,
        })
      }
    }
    if (JSON.stringify([entry.fresh, entry.openApi, entry.resources]) !== before) this.#publish()
  }

  #publish(): void {
    const versions = [...this.#entries.values()].map(
      ({ service: { spec }, resources, openApi, fresh }): RemoteVersion => ({
        group: spec.group,
        version: spec.version,
        priority: { group: spec.groupPriorityMinimum ?? 0, version: spec.versionPriority ?? 0 },
        resources,
        openApi,
        freshness: fresh ? 'Current' : 'Stale',
      }),
    )
    this.#options.discovery?.setRemote(versions)
  }

  #isCurrent(entry: Entry): boolean {
    return !this.#options.parts.signal.aborted && this.#entries.get(entry.service.metadata.name!) === entry
  }

  /** Changes with every input of a check except for the extension server itself. */
  async #signatureOf({ spec }: RemoteApiService): Promise<string> {
    const { name, namespace } = spec.service
    const { lookup } = this.#options
    const slices = await findEndpointSlices(lookup, namespace, name)
    const service = await findService(lookup, namespace, name)
    return JSON.stringify([spec, service?.spec, service?.metadata?.annotations?.[localAddressAnnotation], slices])
  }
}

function isAvailable({ status }: RemoteApiService): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === 'Available' && condition.status === 'True')
}
