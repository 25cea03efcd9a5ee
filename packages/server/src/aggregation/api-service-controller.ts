import { isConflict, isNotFound } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { ResourceCache } from '../cache/resource-cache.ts'
import { asCrd } from '../crd/definitions/crd.ts'
import type { DiscoveryIndex, PromisedVersion } from '../discovery/discovery-index.ts'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import type { MutableObject } from '../resource/object.ts'
import { customOrigin } from '../resource/origin.ts'
import type { Resource } from '../resource/resource.ts'
import type { AggregationParts } from './aggregation-parts.ts'
import type { RemoteApiService } from './api-service-condition.ts'
import { automanagedLabel, localApiService, localSpec } from './local-api-service.ts'
import type { RemoteApiServices } from './remote-api-services.ts'

const apiServices = ['apiregistration.k8s.io', 'v1', 'apiservices'] as const
const watched = [apiServices, ['', 'v1', 'services'], ['discovery.k8s.io', 'v1', 'endpointslices']] as const

/** With more APIServices, consecutive reconciles have a pause in between, so that one handles the changes of several. */
const pacedFrom = 100
/** In milliseconds. */
const longestPause = 200

/**
 * Maintains APIServices. Creates and deletes those of custom resources with their group versions, and passes those that name a
 * service to {@link RemoteApiServices}. Level-triggered: every change leads to a reconcile of all APIServices, never two at a time.
 * Ends with the server.
 */
export class ApiServiceController {
  readonly #parts: AggregationParts
  readonly #lookup: ObjectLookup
  readonly #remote: RemoteApiServices
  readonly #discovery: DiscoveryIndex | undefined
  /** The APIServices of custom resources whose spec was found to be right. An object is another one after a change. */
  readonly #right = new WeakSet<MutableObject>()
  /** Whether a change came after the last reconcile had started. */
  #changed = true
  /** The reconcile loop while it runs; there is never more than one. */
  #running: Promise<void> | undefined

  constructor(
    parts: AggregationParts,
    lookup: ObjectLookup,
    remote: RemoteApiServices,
    discovery: DiscoveryIndex | undefined,
  ) {
    this.#discovery = discovery
    this.#parts = parts
    this.#lookup = lookup
    this.#remote = remote
    const listening = parts.resources.onChange(() => this.#trigger())
    parts.signal.addEventListener('abort', () => listening[Symbol.dispose](), { once: true })
  }

  /** Starts to watch APIServices, Services and EndpointSlices. */
  start(): void {
    for (const name of watched) void this.#follow(name)
    this.#trigger()
  }

  /** Resolves when all changes seen so far have been reconciled. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running
    await this.#remote.idle()
  }

  async #follow([group, version, plural]: readonly [string, string, string]): Promise<void> {
    const resource = this.#parts.resources.find(group, version, plural)
    if (!resource) return
    const { signal } = this.#parts
    const cache = await this.#cacheOf(resource)
    while (cache && !signal.aborted) {
      await cache.changed(signal)
      if (signal.aborted) return
      // Services and endpoints matter only for extension servers.
      if (plural === 'apiservices' || this.#remote.size > 0) this.#trigger()
    }
  }

  /** The cache of a resource, filled again after a failure of the store. Never rejects; undefined when the server stops before. */
  async #cacheOf({ storage }: Resource): Promise<ResourceCache | undefined> {
    const { registry, clock, log, signal } = this.#parts
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        const cache = await registry.feed.cache(storage.prefix)
        // A reconcile before the cache was filled has failed as well.
        if (failures > 0) this.#trigger()
        return cache
      } catch (error) {
        if (signal.aborted) break
        log.error(error, 'Cannot fill a cache; retrying', { prefix: storage.prefix, after: '1s' })
        await clock.sleep(1000, { signal }).catch(() => undefined)
      }
    }
    return undefined
  }

  #trigger(): void {
    this.#changed = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      // A change came after the last reconcile had read the objects.
      if (this.#changed && !this.#parts.signal.aborted) this.#trigger()
    })
  }

  async #run(): Promise<void> {
    while (this.#changed && !this.#parts.signal.aborted) {
      this.#changed = false
      try {
        const size = await this.#reconcile()
        if (this.#changed && size > pacedFrom) await this.#pause(Math.min(longestPause, size / 10))
      } catch (error) {
        // A conflicting write is a change itself and triggers the next reconcile.
        if (!isConflict(error) && !isNotFound(error)) this.#parts.log.error(error, 'Failed to reconcile APIServices')
      }
    }
  }

  async #pause(millis: number): Promise<void> {
    const { clock, signal } = this.#parts
    await clock.sleep(millis, { signal }).catch(() => undefined)
  }

  /** Resolves to the number of APIServices. */
  async #reconcile(): Promise<number> {
    const known = (await this.#lookup.list(apiServices)) as MutableObject[]
    await this.#remote.update(known.filter(isRemote))
    this.#discovery?.setPromised(known.filter((object) => isUserManaged(object)).map(promisedBy))
    const custom = this.#customGroupVersions()
    const byName = new Map(known.map((object) => [object.metadata.name!, object]))
    for (const [name, { group, version }] of custom) {
      const existing = byName.get(name)
      if (existing && this.#right.has(existing)) continue
      if (existing && (!isManaged(existing) || deepEqual(existing['spec'], localSpec(group, version)))) {
        this.#right.add(existing)
        continue
      }
      const wanted = localApiService(group, version, 'true', this.#parts.clock.now())
      if (!existing) await this.#parts.writer.ensure('apiservices', wanted)
      else await this.#parts.writer.put('apiservices', wanted, ['spec'])
    }
    // Read only when an APIService may have lost its CRDs, because every change of a resource leads here.
    let defined: Set<string> | undefined
    for (const object of known) {
      const name = object.metadata.name!
      // Keeps the APIService of a CRD that another server on the same store already serves.
      const isUnserved = isManaged(object) && !custom.has(name)
      if (isUnserved && !(defined ??= await this.#definedVersions()).has(name)) await this.#remove(name)
      else if (!isRemote(object) && !isLocal(object)) await this.#markLocal(object)
    }
    return known.length
  }

  /**
   * The group versions of all CRDs, including those that this server does not serve yet: another server on the same store
   * may be ahead.
   */
  async #definedVersions(): Promise<Set<string>> {
    const definitions = await this.#lookup.list(['apiextensions.k8s.io', 'v1', 'customresourcedefinitions'])
    return new Set(
      definitions.flatMap((definition) => {
        const { group, versions = [] } = asCrd(definition).spec
        return versions.filter(({ served }) => served).map(({ name }) => `${name}.${group}`)
      }),
    )
  }

  /** Marks an APIService that no longer names a service as available. */
  async #markLocal(object: MutableObject): Promise<void> {
    const { group = '', version = '' } = (object['spec'] ?? {}) as {
      group?: string | undefined
      version?: string | undefined
    }
    const { status } = localApiService(group, version, 'true', this.#parts.clock.now())
    await this.#parts.writer.putStatus('apiservices', { ...object, status })
  }

  #customGroupVersions(): Map<string, { group: string; version: string }> {
    const found = new Map<string, { group: string; version: string }>()
    for (const { group, version, resources } of this.#parts.resources.groupVersions()) {
      if (isCustom(resources.values())) found.set(`${version}.${group}`, { group, version })
    }
    return found
  }

  async #remove(name: string): Promise<void> {
    const resource = this.#parts.resources.find(...apiServices)!
    await this.#parts.writer.delete({ resource, name })
  }
}

function isCustom(resources: Iterable<Resource>): boolean {
  for (const { origin } of resources) if (origin !== customOrigin) return false
  return true
}

function isManaged({ metadata }: MutableObject): boolean {
  return metadata.labels?.[automanagedLabel] === 'true'
}

function isUserManaged(object: MutableObject): boolean {
  return !isRemote(object) && object.metadata.labels?.[automanagedLabel] === undefined
}

function promisedBy(object: MutableObject): PromisedVersion {
  const {
    group = '',
    version = '',
    groupPriorityMinimum = 0,
    versionPriority = 0,
  } = object['spec'] as Partial<RemoteApiService['spec']>
  return { group, version, priority: { group: groupPriorityMinimum, version: versionPriority } }
}

function isLocal(object: MutableObject): boolean {
  const { conditions = [] } = (object['status'] ?? {}) as {
    conditions?: readonly { type: string; reason?: string | undefined }[] | undefined
  }
  return conditions.some(({ type, reason }) => type === 'Available' && reason === 'Local')
}

function isRemote(object: MutableObject): object is RemoteApiService {
  return (object['spec'] as { service?: object | undefined } | undefined)?.service !== undefined
}
