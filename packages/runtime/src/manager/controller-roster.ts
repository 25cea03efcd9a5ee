import { AsyncDisposer, toMillis } from '@kubewright/base'
import type { Cluster } from '../cluster/cluster.ts'
import type { ControllerParts } from '../controller/controller-parts.ts'
import type { ControllerRunner } from '../controller/controller-runner.ts'
import type { KeyController } from '../controller/key-controller.ts'
import { clusterKey } from '../controller/sources/cluster-source.ts'
import { gatedCluster } from '../leases/gated-client.ts'
import type { KeyGate } from '../leases/write-gate.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import { type ManagedController, manageController, type Workplace } from './managed-controller.ts'
import type { ManagedClusters } from './manager.ts'
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
    for (const engaged of this.#engaged.values()) this.#enlist(this.#manage(controller, engaged), engaged)
  }

  async engage(cluster: Cluster): Promise<void> {
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
    const controllers = this.#controllers.map((controller) => this.#manage(controller, engaged))
    if (this.#state === 'new') {
      for (const managed of controllers) this.#enlist(managed, engaged)
      return
    }
    // The manager runs: the cluster counts as engaged only when all of its controllers have synced.
    const giveUp = new AbortController()
    try {
      cluster.cache.start()
      const { signal } = giveUp
      disposer.defer(() => giveUp.abort())
      await Promise.all(controllers.map(({ runner }) => runner.warmUp({ signal })))
    } catch (error) {
      giveUp.abort()
      this.#engaged.delete(name)
      await Promise.all(controllers.map(({ runner }) => runner[Symbol.asyncDispose]()))
      await disposer.disposeAsync()
      throw error
    }
    for (const managed of controllers) this.#enlist(managed, engaged)
  }

  async disengage(name: string): Promise<void> {
    const engaged = this.#engaged.get(name)
    if (engaged === undefined || engaged.cluster === this.#parts.cluster) return
    this.#engaged.delete(name)
    const patience = toMillis(this.#parts.gracefulTimeout)
    await Promise.all(
      engaged.controllers.map(async ({ runner, runnable, workplace }) => {
        await this.#groups[workplace].remove(runnable, patience)
        await runner[Symbol.asyncDispose]()
      }),
    )
    await engaged.disposer.disposeAsync()
  }

  /** Starts the caches of all clusters, including those that are engaged later. */
  start(): void {
    this.#state = 'started'
    for (const { cluster } of this.#engaged.values()) cluster.cache.start()
  }

  /** Stops the sources of all controllers. */
  async stop(): Promise<void> {
    this.#state = 'stopped'
    await Promise.all(this.runners.map((runner) => runner[Symbol.asyncDispose]()))
    await Promise.all([...this.#engaged.values()].map(({ disposer }) => disposer.disposeAsync()))
  }

  /** The problems of all controllers. */
  problems(): readonly string[] {
    return this.runners.flatMap((runner) =>
      runner.problems().map((problem) => `controller "${runner.name}": ${problem}`),
    )
  }

  #manage(controller: KeyController, { cluster, events }: Engaged): ManagedController {
    const { elector, sharding, name, clock, random, log, metrics, tracer, degraded } = this.#parts
    const workplace = !controller.needsLeader ? 'other' : sharding !== undefined ? 'shared' : 'leader'
    const gate = { other: undefined, shared: sharding?.gate, leader: elector?.gate }[workplace]
    const parts: ControllerParts = {
      cluster: gate === undefined ? cluster : gatedCluster(cluster, gate),
      clock,
      random,
      log,
      metrics,
      tracer,
      events,
      operator: name,
      ...(workplace === 'shared' && sharding !== undefined ? { keyGate: keysOf(cluster, sharding.keys) } : {}),
    }
    return manageController(controller, workplace, parts, { degraded })
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
