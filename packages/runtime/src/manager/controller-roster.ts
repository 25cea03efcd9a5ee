import {
  AsyncDisposer,
  formatDuration,
  isKubewrightError,
  KubewrightError,
  toMillis,
  withDeadline,
} from '@kubewright/base'
import type { Cluster, Clusters } from '../cluster/cluster.ts'
import type { ControllerParts } from '../controller/controller-parts.ts'
import type { ControllerRunner } from '../controller/controller-runner.ts'
import type { KeyController } from '../controller/key-controller.ts'
import { clusterKey } from '../controller/sources/cluster-source.ts'
import { gatedCluster } from '../leases/gated-client.ts'
import type { KeyGate } from '../leases/write-gate.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import { type ManagedController, manageController, type Workplace } from './managed-controller.ts'
import type { EngageOptions, ManagedClusters } from './manager.ts'
import type { ManagerParts } from './manager-parts.ts'
import type { RunnableGroup } from './runnable-group.ts'

interface Engaged {
  readonly cluster: Cluster
  readonly events: EventRecorder
  readonly controllers: ManagedController[]
  readonly disposer: AsyncDisposer
}

/** The controllers of a manager on all of its clusters. */
export class ControllerRoster implements ManagedClusters {
  readonly #parts: ManagerParts
  readonly #groups: Readonly<Record<Workplace, RunnableGroup>>
  readonly #controllers: KeyController[] = []
  // The main cluster comes first; its name may be non-empty.
  readonly #engaged = new Map<string, Engaged>()
  // The clusters that are being engaged.
  readonly #engaging = new Set<AbortController>()
  #state: 'new' | 'started' | 'stopped' = 'new'

  constructor(parts: ManagerParts, groups: Readonly<Record<Workplace, RunnableGroup>>) {
    this.#parts = parts
    this.#groups = groups
    const { cluster, events } = parts
    this.#engaged.set(cluster.name, { cluster, events, controllers: [], disposer: new AsyncDisposer() })
  }

  get runners(): readonly ControllerRunner[] {
    return [...this.#engaged.values()].flatMap(({ controllers }) => controllers.map(({ runner }) => runner))
  }

  get(name: string): Cluster | undefined {
    return name === this.#parts.cluster.name ? undefined : this.#engaged.get(name)?.cluster
  }

  *[Symbol.iterator](): Generator<Cluster> {
    for (const { cluster } of this.#engaged.values()) if (cluster !== this.#parts.cluster) yield cluster
  }

  /** Adds a controller to all clusters. It starts with its group, or at once if the group has started. */
  add(controller: KeyController): void {
    if (this.#controllers.some(({ name }) => name === controller.name)) {
      throw new TypeError(
        `Cannot add controller "${controller.name}" to manager "${this.#parts.name}" as that name is taken: give one of them another 'name'`,
      )
    }
    this.#controllers.push(controller)
    for (const engaged of this.#engaged.values()) {
      if (this.#runsOn(controller, engaged)) this.#enlist(this.#manage(controller, engaged), engaged)
    }
  }

  /** Removes a controller from all clusters, and resolves when its work has ended. */
  async remove(name: string): Promise<void> {
    const index = this.#controllers.findIndex((controller) => controller.name === name)
    if (index < 0) return
    this.#controllers.splice(index, 1)
    const removed = [...this.#engaged.values()].flatMap(({ controllers }) => {
      const mine = controllers.filter(({ controller }) => controller === name)
      for (const managed of mine) controllers.splice(controllers.indexOf(managed), 1)
      return mine
    })
    await Promise.all(removed.map((managed) => this.#retire(managed)))
  }

  async engage(cluster: Cluster, { timeout = '30s' }: EngageOptions = {}): Promise<void> {
    const { name } = cluster
    const cannot = `Cannot engage cluster "${name}" with manager "${this.#parts.name}"`
    if (name === '' || this.#engaged.has(name)) {
      throw new TypeError(`${cannot}: its name must be new and not empty`)
    }
    if (this.#state === 'stopped') throw new TypeError(`${cannot}: the manager is stopping`)
    const disposer = new AsyncDisposer()
    const engaged: Engaged = {
      cluster,
      events: disposer.use(this.#parts.makeEvents(cluster)),
      controllers: [],
      disposer,
    }
    this.#engaged.set(name, engaged)
    const controllers = this.#controllers
      .filter((controller) => this.#runsOn(controller, engaged))
      .map((controller) => this.#manage(controller, engaged))
    if (this.#state === 'new') {
      for (const managed of controllers) this.#enlist(managed, engaged)
      return
    }
    // The manager runs: the cluster counts as engaged only when all of its controllers have synced.
    const giveUp = new AbortController()
    this.#engaging.add(giveUp)
    try {
      cluster.cache.start()
      const { signal } = giveUp
      disposer.defer(() => giveUp.abort())
      const warmUp = (late: AbortSignal) =>
        Promise.all(controllers.map(({ runner }) => runner.warmUp({ signal: late })))
      await withDeadline(this.#parts.clock, timeout, `cluster "${name}" to sync`, warmUp, { signal })
    } catch (error) {
      giveUp.abort()
      if (this.#engaged.get(name) === engaged) this.#engaged.delete(name)
      await Promise.all(controllers.map(({ runner }) => runner[Symbol.asyncDispose]()))
      await disposer.disposeAsync()
      if (!isKubewrightError(error, 'KW_DEADLINE_EXCEEDED')) throw error
      const why = [...new Set(controllers.flatMap(({ runner }) => runner.problems()))].join('; ')
      const message = `${cannot}: it did not sync within ${formatDuration(timeout)}: ${why || 'it does not respond'}`
      throw new KubewrightError('KW_CACHE_NOT_SYNCED', message, { cause: error })
    } finally {
      this.#engaging.delete(giveUp)
    }
    // Disengaged, or the manager stopped, meanwhile.
    if (this.#engaged.get(name) !== engaged) {
      await Promise.all(controllers.map(({ runner }) => runner[Symbol.asyncDispose]()))
      throw new TypeError(`${cannot}: it was disengaged before it had synced`)
    }
    for (const managed of controllers) this.#enlist(managed, engaged)
  }

  async disengage(name: string): Promise<void> {
    const engaged = this.#engaged.get(name)
    if (engaged === undefined || engaged.cluster === this.#parts.cluster) return
    this.#engaged.delete(name)
    await Promise.all(engaged.controllers.map((managed) => this.#retire(managed)))
    await engaged.disposer.disposeAsync()
  }

  /** Starts the caches of all clusters, including those that are engaged later. */
  start(): void {
    this.#state = 'started'
    for (const { cluster } of this.#engaged.values()) cluster.cache.start()
  }

  /** Rejects the calls of `engage` in flight: a stop must not wait for clusters that do not respond. */
  giveUp(): void {
    for (const engaging of this.#engaging) engaging.abort(new Error('the manager is stopping'))
  }

  /** Stops the sources of all controllers. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    await Promise.all(this.runners.map((runner) => runner[Symbol.asyncDispose]()))
    await Promise.all([...this.#engaged.values()].map(({ disposer }) => disposer.disposeAsync()))
  }

  /** The problems of the controllers on the main cluster: a dead cluster among others must not make the operator unready. */
  problems(): readonly string[] {
    const { controllers = [] } = this.#engaged.get(this.#parts.cluster.name) ?? {}
    return controllers.flatMap(({ runner }) =>
      runner.problems().map((problem) => `controller "${runner.name}": ${problem}`),
    )
  }

  async #retire({ runner, runnable, workplace }: ManagedController): Promise<void> {
    await this.#groups[workplace].remove(runnable, toMillis(this.#parts.gracefulTimeout))
    await runner[Symbol.asyncDispose]()
  }

  #manage(controller: KeyController, { cluster, events }: Engaged): ManagedController {
    const { elector, sharding, name, clock, random, log, metrics, tracer, degraded } = this.#parts
    const workplace = !controller.needsLeader ? 'other' : sharding !== undefined ? 'shared' : 'leader'
    const gate = { other: undefined, shared: sharding?.gate, leader: elector?.gate }[workplace]
    const gated = (one: Cluster): Cluster => (gate === undefined ? one : gatedCluster(one, gate))
    const parts: ControllerParts = {
      cluster: gated(cluster),
      clusters: this.#seen(gated),
      clock,
      random,
      log,
      metrics,
      tracer,
      events,
      operator: name,
      ...(workplace === 'shared' && sharding !== undefined ? { keyGate: keysOf(cluster, sharding.keys) } : {}),
    }
    // A dead cluster besides the main one must not end the manager.
    return manageController(controller, workplace, parts, { degraded: degraded || cluster !== this.#parts.cluster })
  }

  #runsOn({ clusters = 'all' }: KeyController, { cluster }: Engaged): boolean {
    return clusters === 'all' || (clusters === 'main') === (cluster === this.#parts.cluster)
  }

  /** All clusters, with the write gate of a controller. */
  #seen(gated: (cluster: Cluster) => Cluster): Clusters {
    const engaged = this.#engaged
    return {
      get: (name) => {
        const found = engaged.get(name)
        return found && gated(found.cluster)
      },
      *[Symbol.iterator]() {
        for (const { cluster } of engaged.values()) yield gated(cluster)
      },
    }
  }

  #enlist(managed: ManagedController, engaged: Engaged): void {
    engaged.controllers.push(managed)
    this.#groups[managed.workplace].add(managed.runnable)
  }
}

// The same key in two clusters means two objects, which may belong to different replicas.
function keysOf(cluster: Cluster, keys: KeyGate): KeyGate {
  if (cluster.name === '') return keys
  return {
    hold: (key) => keys.hold(clusterKey(cluster.name, key)),
    onChange: (listener) => keys.onChange(listener),
  }
}
