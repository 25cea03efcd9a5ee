import type { KubeObject } from '@kubewright/api'
import { type Clock, type Logger, linkSignals, type Timer } from '@kubewright/base'
import { dynamicKind, metadataOnly, type ServedGroup, type ServedResource } from '@kubewright/client'
import { APIService, CustomResourceDefinition } from '@kubewright/k8s'
import type { CacheLease, Cluster, EventHandler } from '@kubewright/runtime'

/** Receives the events of the monitors. */
export interface MonitorHandler {
  /** Whether the object with this uid was set before and has not been deleted since. */
  knows(uid: string): boolean
  onSet(object: KubeObject): void
  /** The object was deleted. */
  onDelete(object: KubeObject): void
  /** The object is no longer watched, because its kind is served in another version, or no longer served. */
  onForget(object: KubeObject): void
  /** Discovery has completed; new resources may be served. */
  onDiscovered(): void
}

/** Options of {@link ResourceMonitors}. */
export interface ResourceMonitorsOptions {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: Logger
  /** Selects the resources to monitor among those that support list, watch and delete. */
  readonly wants: (resource: ServedResource) => boolean
  readonly handler: MonitorHandler
}

interface Monitor {
  readonly resource: ServedResource
  /** Undefined while the resource is known to have no objects. */
  lease: CacheLease | undefined
}

/**
 * The same interval as kube-controller-manager. Changes of CRDs and APIServices trigger discovery at once, so only
 * extension servers, which may change without them, and failed discoveries need it.
 */
const rediscoverEvery = 30_000
/** The maximum wait for a resource that cannot be listed, so that it does not block all others. */
const patience = 30_000
/** How long the start of the controller waits for the lists. They take seconds for a million objects. */
const startPatience = 250

/**
 * Watches the metadata of every served resource that can be deleted. Monitors are added and removed with
 * CustomResourceDefinitions and extension servers.
 */
export class ResourceMonitors implements AsyncDisposable {
  readonly #options: ResourceMonitorsOptions
  readonly #monitors = new Map<string, Monitor>()
  readonly #stop = new AbortController()
  readonly #triggers: CacheLease[] = []
  readonly #services: CacheLease<APIService>
  #timer: Timer | undefined
  #running: Promise<void> | undefined
  #again = false
  /** Whether CRDs and APIServices have been listed. The first discovery waits for them instead of running for each. */
  #isListed = false

  constructor(options: ResourceMonitorsOptions) {
    this.#options = options
    const definitions = options.cluster.cache.use(CustomResourceDefinition)
    this.#services = options.cluster.cache.use(APIService)
    definitions.addHandler(this.#follower(resourcesOfDefinition), { name: 'resource-monitors' })
    this.#services.addHandler(this.#follower(resourcesOfService), { name: 'resource-monitors' })
    this.#triggers.push(definitions as CacheLease, this.#services as CacheLease)
  }

  /** Triggers discovery when an object that adds resources changes in a way that discovery can show. */
  #follower<T extends KubeObject>(resourcesOf: (object: T) => string): EventHandler<T> {
    const follow = (before: string, after: string): void => {
      if (this.#isListed && before !== after) this.#trigger()
    }
    return {
      onAdd: (object) => follow('', resourcesOf(object)),
      onUpdate: (before, after) => follow(resourcesOf(before), resourcesOf(after)),
      onDelete: (object) => follow(resourcesOf(object), ''),
    }
  }

  /** Starts the monitors of all resources that are currently served. */
  async start(): Promise<void> {
    await Promise.all(this.#triggers.map((lease) => lease.synced()))
    this.#isListed = true
    this.#trigger()
    await this.#running
  }

  /** Resolves when every resource that was served at the start has been listed, or the wait has timed out. */
  async synced(): Promise<void> {
    const isComplete = await this.#within(patience)
    if (isComplete || this.#stop.signal.aborted) return
    const problems = this.problems()
    this.#options.log.warn('Some resources could not be listed; continuing without them', { problems })
  }

  /** Resolves when every resource has been listed or the start must not wait any longer. */
  async syncedSoon(): Promise<void> {
    await this.#within(startPatience)
  }

  /** Waits for the lists of all resources, up to a number of milliseconds. Resolves to whether all of them have been listed. */
  async #within(millis: number): Promise<boolean> {
    const enough = linkSignals(this.#stop.signal)
    const late = this.#options.clock.sleep(millis, { signal: enough.signal }).then(
      () => false,
      () => false,
    )
    const all = this.#leases().map((lease) => lease.synced().catch(() => undefined))
    const isComplete = await Promise.race([Promise.all(all).then(() => true), late])
    enough.abort()
    return isComplete
  }

  /** Describes the monitors that cannot list or watch, for messages. */
  problems(): string[] {
    return this.#leases().flatMap(({ health }) => (health.state === 'failing' ? (health.message ?? []) : []))
  }

  #leases(): CacheLease[] {
    return [...this.#monitors.values()].flatMap(({ lease }) => lease ?? [])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('The monitors were stopped'))
    this.#timer?.cancel()
    await this.#running
    await Promise.all([...this.#triggers, ...this.#leases()].map((lease) => lease.release()))
  }

  #trigger(): void {
    if (this.#stop.signal.aborted) return
    if (this.#running !== undefined) {
      this.#again = true
      return
    }
    this.#timer?.cancel()
    this.#running = this.#sync().then((isComplete) => {
      this.#running = undefined
      if (!isComplete || this.#hasExtensionServers()) this.#schedule()
      if (!this.#again) return
      this.#again = false
      this.#trigger()
    })
  }

  #schedule(): void {
    if (this.#stop.signal.aborted) return
    const { clock } = this.#options
    this.#timer = clock.setTimer(rediscoverEvery, () => this.#trigger(), 'discovery of resources to monitor')
  }

  #hasExtensionServers(): boolean {
    return this.#services.store.list().some(({ spec }) => spec.service !== undefined)
  }

  /** Resolves to whether the discovery of all groups succeeded. */
  async #sync(): Promise<boolean> {
    const { cluster, log, wants } = this.#options
    try {
      const groups = await cluster.api.discovery.groups({ signal: this.#stop.signal })
      const served = new Map(
        preferred(groups)
          .filter(wants)
          .map((resource) => [idOf(resource), resource]),
      )
      // A group whose discovery failed is stale, not gone: keep its monitors.
      const stale = new Set(groups.flatMap(({ name, versions }) => (versions.some((v) => v.stale) ? [name] : [])))
      const gone = [...this.#monitors].filter(([id, { resource }]) => !served.has(id) && !stale.has(resource.group))
      const fresh = [...served].filter(([id]) => !this.#monitors.has(id))
      for (const [id] of gone) this.#remove(id)
      for (const [id, resource] of fresh) this.#add(id, resource)
      this.#options.handler.onDiscovered()
      return stale.size === 0
    } catch (error) {
      if (!this.#stop.signal.aborted) log.error(error, 'Discovery of the resources to monitor failed')
      return false
    }
  }

  /** Adds the monitor of a resource. It watches when the resource has objects: most of a hundred resources have none. */
  #add(id: string, resource: ServedResource): void {
    const { cluster } = this.#options
    const monitor: Monitor = { resource, lease: undefined }
    this.#monitors.set(id, monitor)
    const absence = cluster.cache.absence(resource, this.#stop.signal)
    if (absence === undefined) {
      monitor.lease = this.#watch(resource)
      return
    }
    void absence.ended.then(() => {
      if (!this.#stop.signal.aborted && this.#monitors.get(id) === monitor) monitor.lease = this.#watch(resource)
    })
  }

  #watch(resource: ServedResource): CacheLease {
    const { cluster, handler } = this.#options
    const lease: CacheLease = cluster.cache.use(metadataOnly(dynamicKind(resource)))
    lease.addHandler(
      {
        onChange: (change) => {
          const { after, deleted } = change
          if (after === undefined) {
            if (deleted !== undefined) handler.onDelete(deleted.object)
            return
          }
          // The state before is decoded only when it may be that of another object.
          if (change.type === 'update' && !handler.knows(after.metadata.uid)) {
            const { before } = change
            if (before !== undefined && before.metadata.uid !== after.metadata.uid) handler.onDelete(before)
          }
          handler.onSet(after)
        },
      },
      { name: 'resource-monitor' },
    )
    return lease
  }

  #remove(id: string): void {
    const { handler, log } = this.#options
    const monitor = this.#monitors.get(id)
    if (monitor === undefined) return
    this.#monitors.delete(id)
    const { lease } = monitor
    if (lease === undefined) return
    for (const object of lease.store.list()) handler.onForget(object)
    lease.release().catch((error: unknown) => log.error(error, 'Monitor failed to stop', { resource: id }))
  }
}

/** Identifies the resources that a definition adds; empty if it adds none. */
function resourcesOfDefinition({ metadata, spec, status }: CustomResourceDefinition): string {
  if (!status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')) return ''
  const served = spec.versions.filter((version) => version.served).map(({ name }) => name)
  // A definition that is being deleted no longer accepts new objects, which discovery shows as fewer verbs.
  return JSON.stringify([
    metadata.uid,
    metadata.deletionTimestamp,
    spec.group,
    spec.scope,
    status.acceptedNames,
    served,
  ])
}

/** Identifies the version that an APIService adds; empty if it is not available. */
function resourcesOfService({ metadata, spec, status }: APIService): string {
  if (!status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'True')) return ''
  return JSON.stringify([metadata.uid, metadata.deletionTimestamp, spec])
}

/** Each resource once, in the preferred version of its group, if it supports list, watch and delete. */
function preferred(groups: readonly ServedGroup[]): ServedResource[] {
  const found = new Map<string, ServedResource>()
  for (const { versions } of groups) {
    for (const { resources } of versions) {
      for (const resource of resources) {
        const able = ['list', 'watch', 'delete'].every((verb) => resource.verbs.includes(verb))
        const name = `${resource.plural}.${resource.group}`
        if (able && !found.has(name)) found.set(name, resource)
      }
    }
  }
  return [...found.values()]
}

const idOf = ({ group, version, plural }: ServedResource): string => `${plural}.${version}.${group}`
