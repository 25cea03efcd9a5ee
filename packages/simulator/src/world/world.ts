import type { KubeObject } from '@kubewright/api'
import { CaughtError, drainMicrotasks, type Random, seededRandom, VirtualClock } from '@kubewright/base'
import type { ControlPlane } from '@kubewright/controlplane'
import type { Store } from '@kubewright/storage'
import type { Answer, Observer } from '../define/observer.ts'
import type { RequestFacts } from '../define/request-facts.ts'
import type { Schedule } from '../define/schedule.ts'
import type { SimulatedState } from '../define/timeline.ts'
import { ClusterLevers } from './cluster-levers.ts'
import { ClusterUser } from './cluster-user.ts'
import { FaultInjector } from './fault-injector.ts'
import { History } from './history.ts'
import { webhookHost } from './install-operator.ts'
import { Neighbors } from './neighbors.ts'
import { Network, type ServedWrite } from './network.ts'
import { OperatorProcesses } from './operator-processes.ts'
import type { SimulatedProcess } from './process.ts'
import { RequestSources } from './request-sources.ts'
import type { Setup } from './setup.ts'
import { drive } from './start-cluster.ts'
import { objectsSince, parseObject } from './stored-objects.ts'
import { WriteLog } from './write-log.ts'

/** The facts of a run that an oracle knows before it observes it. */
export interface ObservedRun {
  readonly setup: Setup
  readonly schedule: Schedule
  /** The state outside the cluster. */
  readonly outside: unknown
}

export interface WorldOptions {
  /** Creates the observers of the oracles, which add violations to the history. @default none */
  readonly observe?: ((run: ObservedRun, history: History) => readonly Observer[]) | undefined
  /** Records the source lines of requests and the changes of the cluster. Costs time. */
  readonly isDetailed?: boolean | undefined
  /** Stops in the debugger before each fault. */
  readonly isInspected?: boolean | undefined
  /** Records all states of objects. */
  readonly isRecorded?: boolean | undefined
  /** Changes resource versions and times, to find fields that depend on them. */
  readonly isShifted?: boolean | undefined
}

const slice = 60_000
// Shorter than the latency of most requests.
const actionStep = 1

/**
 * A cluster with its operator in virtual time. Everything in it is a function of the setup and the schedule. Nothing
 * needs to be disposed: when the world is dropped, no timer or socket of this process refers to it.
 */
export class World {
  readonly setup: Setup
  readonly schedule: Schedule
  readonly clock: VirtualClock
  readonly random: Random
  readonly history: History
  readonly network: Network
  readonly log: WriteLog
  readonly faults: FaultInjector
  readonly cluster: ClusterLevers
  readonly neighbors: Neighbors
  readonly processes: OperatorProcesses
  readonly user: ClusterUser
  /** What the oracles observe. */
  readonly observers: readonly Observer[]
  /** Those that follow every change. */
  readonly #followers: readonly Observer[]
  /** Finds the lines of the operator that send requests, if stories need them. */
  readonly sources: RequestSources | undefined
  /** The states of all objects since the start, if they are recorded. */
  readonly states: SimulatedState[] = []
  /** Whether the run stops in the debugger before each fault. */
  readonly isInspected: boolean
  readonly #options: WorldOptions
  readonly #outside: unknown
  #plane: ControlPlane | undefined
  isOver = false
  #seenRevision = 0

  private constructor(setup: Setup, schedule: Schedule, options: WorldOptions) {
    this.setup = setup
    this.schedule = schedule
    this.#options = options
    this.isInspected = options.isInspected ?? false
    this.sources = options.isDetailed ? new RequestSources() : undefined
    const start = setup.cluster.now + (options.isShifted ? 5_837_000 : 0)
    this.clock = new VirtualClock({ start, settle: () => this.#settle() })
    this.random = seededRandom(schedule.seed)
    const outside = setup.createWorld?.()
    this.#outside = outside
    this.history = new History(this.clock, setup.without)
    this.log = new WriteLog(this.clock, this.history)
    this.faults = new FaultInjector(this)
    this.cluster = new ClusterLevers(this)
    this.user = new ClusterUser(this)
    this.neighbors = new Neighbors(this)
    this.processes = new OperatorProcesses(this, outside)
    this.observers = options.observe?.({ setup, schedule, outside }, this.history) ?? []
    this.#followers = this.observers.filter(({ changed }) => changed !== undefined)
    this.network = new Network(this)
  }

  /** Starts the cluster and the replicas of the operator. Calls `created` before any of their code runs. */
  static async start(
    setup: Setup,
    schedule: Schedule,
    options: WorldOptions = {},
    created: (world: World) => void = () => undefined,
  ): Promise<World> {
    const world = new World(setup, schedule, options)
    created(world)
    await world.#start()
    return world
  }

  get plane(): ControlPlane {
    if (this.#plane === undefined) throw new TypeError('The world has not started')
    return this.#plane
  }

  get store(): Store {
    return this.plane.server.parts.registry.store
  }

  /** Milliseconds of virtual time since the start. */
  get now(): number {
    return this.clock.monotonic()
  }

  async #start(): Promise<void> {
    const { setup } = this
    const random = this.random.fork('cluster')
    const processes = setup.createProcesses?.(this.#outside)
    this.#plane = await this.drive(setup.cluster.start(this.clock, random, this.cluster.plan, processes))
    this.plane.localServers.serve(webhookHost, async (request) => {
      const server = this.processes.all.find(({ works }) => works)?.webhooks
      if (server === undefined || this.cluster.webhooksAreDown) throw new CaughtError('connection refused')
      return server(request)
    })
    this.#seenRevision = await this.store.revision()
    if (this.#options.isRecorded) void this.#record()
    if (this.#options.isShifted) await this.drive(this.#shiftVersions())
    for (let replica = 1; replica <= this.schedule.replicas; replica++) this.processes.start(replica)
    await this.advance(1000)
  }

  /** Follows the store for as long as the world exists. The observer sends no request, so that the run stays the same. */
  async #record(): Promise<void> {
    for await (const { changes } of this.store.watch({ prefix: '/registry/', after: this.setup.cluster.revision })) {
      for (const { entry, previous } of changes) {
        const object = parseObject((entry ?? previous)?.value)
        if (object !== undefined)
          this.states.push({ time: Math.round(this.now), object, isDeleted: entry === undefined })
      }
    }
  }

  /** Uses up some resource versions. */
  async #shiftVersions(): Promise<void> {
    const path = '/api/v1/namespaces/default/configmaps'
    for (let i = 0; i < 7; i++) {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shift' } }
      await this.user.request('POST', path, object)
      await this.user.request('DELETE', `${path}/shift`)
    }
  }

  /** Waits for a promise. Virtual time passes meanwhile. */
  drive<T>(work: Promise<T>): Promise<T> {
    return drive(this.clock, work)
  }

  /** Lets virtual time pass, unless the run has ended early. */
  async advance(millis: number): Promise<void> {
    // In slices, so that a hot loop ends the run. Counted, because times in milliseconds are not exact.
    for (let left = Math.ceil(millis); left > 0 && !this.isOver; left -= slice) {
      await this.clock.advance(Math.min(slice, left))
    }
  }

  /** Lets virtual time pass until the operator has begun a number of further actions, or the time is over. */
  async advanceActions(count: number, millis: number): Promise<void> {
    const target = this.faults.actions + count
    const end = this.now + millis
    while (!this.isOver && this.faults.actions < target && this.now < end - 0.01) {
      await this.clock.advance(Math.min(actionStep, end - this.now))
    }
  }

  /** Reports a promise of the operator whose rejection nothing handles. */
  rejected(reason: unknown): void {
    for (const observer of this.observers) observer.rejected?.(reason)
  }

  /** The objects that were written since the start. */
  objects(): Promise<KubeObject[]> {
    return objectsSince(this.store, this.setup.cluster.revision)
  }

  /** The same, and the objects that existed before and that the operator may change: it may restore what it has changed. */
  changeableObjects(): Promise<KubeObject[]> {
    return objectsSince(this.store, this.setup.cluster.revision, this.setup.operator.changeable)
  }

  async #settle(): Promise<void> {
    await drainMicrotasks()
    if (this.#followers.length === 0 || this.#plane === undefined) return
    const revision = await this.store.revision()
    if (revision === this.#seenRevision) return
    this.#seenRevision = revision
    const objects = await this.objects()
    for (const observer of this.#followers) observer.changed?.(objects)
  }

  /** A process sends a write. */
  sent({ manager, replica }: SimulatedProcess, request: RequestFacts): void {
    if (manager === undefined) return
    const { identity } = manager
    for (const observer of this.observers) observer.sent?.({ request, replica, identity })
  }

  #answered(answer: Answer): void {
    for (const observer of this.observers) observer.answered?.(answer)
  }

  /** The server refuses a read for lack of a permission. */
  forbidden(request: RequestFacts, body: Uint8Array): void {
    this.#answered({ request, status: 403, object: parsed(body), isDisturbed: false })
  }

  /** The server has processed a write. */
  served(write: ServedWrite): void {
    const { facts: request, status, isDisturbed } = write
    const object = parsed(write.body)
    if (request.plural !== 'leases' && request.plural !== 'events')
      this.log.served(write, object, this.faults.untilEnd > 0)
    this.#answered({ request, status, object, isDisturbed })
    // Long before the operator has sent all requests that it may send: each change can be a roll-out, which takes time.
    const most = this.setup.maxRequests / 10
    if (this.log.mostWithinMinute > most)
      this.loops(
        `changed an object more than ${most} times within a minute, and sent ${this.network.requests} requests`,
      )
  }

  /** Ends the run, because the operator works without end. */
  loops(what: string): void {
    if (this.isOver) return
    const { busiest } = this.log
    const detail = busiest === undefined ? '' : `, most of them ${busiest}`
    for (const observer of this.observers) observer.looped?.(what + detail)
    this.end()
  }

  /** Kills every process, so that the run ends. */
  end(): void {
    this.isOver = true
    for (const process of this.processes.all) process.kill()
  }
}

const parsed = (body: Uint8Array): KubeObject => JSON.parse(Buffer.from(body).toString()) as KubeObject
