import type { KubeObject } from '@kubewright/api'
import { type Clock, every, type Logger, linkSignals } from '@kubewright/base'
import { dynamicKind, metadataOnly, type ServedGroup, type ServedResource } from '@kubewright/client'
import { APIService, CustomResourceDefinition } from '@kubewright/k8s'
import type { CacheLease, Cluster } from '@kubewright/runtime'

/** What monitors tell. */
export interface MonitorHandler {
  onSet(object: KubeObject): void
  /** The object is gone. */
  onDelete(object: KubeObject): void
  /** The object is not watched any more: its kind is served in another version, or not at all. */
  onForget(object: KubeObject): void
  /** It was found out what is served, which may be more than before. */
  onDiscovered(): void
}

/** What {@link ResourceMonitors} needs. */
export interface ResourceMonitorsOptions {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: Logger
  /** Which of the resources that can be listed, watched and deleted matter. */
  readonly wants: (resource: ServedResource) => boolean
  readonly handler: MonitorHandler
}

interface Monitor {
  readonly lease: CacheLease
  readonly resource: ServedResource
}

/** As kube-controller-manager; what CRDs and extension servers bring is seen at once, this is for what they do not tell. */
const rediscoverEvery = 30_000
/** One resource that cannot be listed must not keep all others waiting for longer. */
const patience = 30_000

/**
 * Watches the metadata of every resource that can be deleted, whatever is served: monitors come and go with
 * CustomResourceDefinitions and extension servers.
 */
export class ResourceMonitors implements AsyncDisposable {
  readonly #options: ResourceMonitorsOptions
  readonly #monitors = new Map<string, Monitor>()
  readonly #stop = new AbortController()
  readonly #triggers: CacheLease[] = []
  readonly #timer: Disposable
  #running: Promise<void> | undefined
  #again = false

  constructor(options: ResourceMonitorsOptions) {
    this.#options = options
    const follow = (): void => this.#trigger()
    for (const kind of [CustomResourceDefinition, APIService]) {
      const lease = options.cluster.cache.use(kind) as CacheLease
      lease.addHandler({ onAdd: follow, onUpdate: follow, onDelete: follow }, { name: 'resource-monitors' })
      this.#triggers.push(lease)
    }
    this.#timer = every(options.clock, rediscoverEvery, follow, 'discovery of resources to monitor')
  }

  /** Resolves when everything that is served at the moment has been listed, or has had the time for it. */
  async synced(): Promise<void> {
    await Promise.all(this.#triggers.map((lease) => lease.synced()))
    this.#trigger()
    await this.#running
    const { clock, log } = this.#options
    const enough = linkSignals(this.#stop.signal)
    const late = clock.sleep(patience, { signal: enough.signal }).then(
      () => log.warn('Not all resources could be listed, going on without them', { problems: this.problems() }),
      () => undefined,
    )
    const all = [...this.#monitors.values()].map(({ lease }) => lease.synced().catch(() => undefined))
    await Promise.race([Promise.all(all), late])
    enough.abort()
  }

  /** Monitors that cannot list or watch, for messages. */
  problems(): string[] {
    return [...this.#monitors.values()].flatMap(({ lease }) =>
      lease.health.state === 'failing' ? (lease.health.message ?? []) : [],
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error('The monitors were stopped'))
    this.#timer[Symbol.dispose]()
    await this.#running
    const leases = [...this.#triggers, ...[...this.#monitors.values()].map(({ lease }) => lease)]
    await Promise.all(leases.map((lease) => lease.release()))
  }

  #trigger(): void {
    if (this.#stop.signal.aborted) return
    if (this.#running !== undefined) {
      this.#again = true
      return
    }
    this.#running = this.#sync().finally(() => {
      this.#running = undefined
      if (!this.#again) return
      this.#again = false
      this.#trigger()
    })
  }

  async #sync(): Promise<void> {
    const { cluster, log, wants } = this.#options
    try {
      const groups = await cluster.api.discovery.groups({ signal: this.#stop.signal })
      const served = new Map(
        preferred(groups)
          .filter(wants)
          .map((resource) => [idOf(resource), resource]),
      )
      // What could not be asked is not gone.
      const stale = new Set(groups.flatMap(({ name, versions }) => (versions.some((v) => v.stale) ? [name] : [])))
      const gone = [...this.#monitors].filter(([id, { resource }]) => !served.has(id) && !stale.has(resource.group))
      const fresh = [...served].filter(([id]) => !this.#monitors.has(id))
      for (const [id] of gone) this.#remove(id)
      for (const [id, resource] of fresh) this.#add(id, resource)
      this.#options.handler.onDiscovered()
    } catch (error) {
      if (!this.#stop.signal.aborted) log.error(error, 'Cannot find out which resources to monitor')
    }
  }

  #add(id: string, resource: ServedResource): void {
    const { cluster, handler } = this.#options
    const lease: CacheLease = cluster.cache.use(metadataOnly(dynamicKind(resource)))
    this.#monitors.set(id, { lease, resource })
    lease.addHandler(
      {
        onAdd: (object) => handler.onSet(object),
        onUpdate: (before, after) => {
          if (before.metadata.uid !== after.metadata.uid) handler.onDelete(before)
          handler.onSet(after)
        },
        onDelete: (object) => handler.onDelete(object),
      },
      { name: 'resource-monitor' },
    )
  }

  #remove(id: string): void {
    const { handler, log } = this.#options
    const monitor = this.#monitors.get(id)
    if (monitor === undefined) return
    this.#monitors.delete(id)
    for (const object of monitor.lease.store.list()) handler.onForget(object)
    monitor.lease.release().catch((error: unknown) => log.error(error, 'A monitor did not stop', { resource: id }))
  }
}

/** Each resource once, in the version that its group prefers, if it can be listed, watched and deleted. */
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
