import type { KubeObject } from '@kubewright/api'
import { drainMicrotasks, errorText, type Random, seededRandom, VirtualClock } from '@kubewright/base'
import type { ControlPlane } from '@kubewright/controlplane'
import type { Store } from '@kubewright/storage'
import { ClusterFaults } from './cluster-faults.ts'
import { objectsSince, parseObject } from './cluster-state.ts'
import { ClusterUser } from './cluster-user.ts'
import { FaultInjector } from './fault-injector.ts'
import { History } from './history.ts'
import { userFrame } from './host-guards.ts'
import { InvariantChecks } from './invariant-checks.ts'
import { Neighbors } from './neighbors.ts'
import { Network, type ServedWrite } from './network.ts'
import { OperatorProcesses } from './operator-processes.ts'
import type { SimulatedState } from './options.ts'
import { RequestSources } from './request-sources.ts'
import type { Schedule } from './schedule.ts'
import { type Setup, webhookHost } from './setup.ts'
import { WriteLog } from './write-log.ts'

/** Options of {@link World.start}. */
export interface WorldOptions {
  /** Records the source lines of requests and the changes of the cluster. Costs time. */
  readonly isDetailed?: boolean
  /** Stops in the debugger before each fault. */
  readonly isInspected?: boolean | undefined
  /** Records all states of objects. */
  readonly isRecorded?: boolean | undefined
  /** Changes resource versions and times, to find fields that depend on them. */
  readonly isShifted?: boolean
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
  readonly cluster: ClusterFaults
  readonly neighbors: Neighbors
  readonly processes: OperatorProcesses
  readonly invariants: InvariantChecks
  /** Finds the lines of the operator that send requests, if stories need them. */
  readonly sources: RequestSources | undefined
  /** The states of all objects since the start, if they are recorded. */
  readonly states: SimulatedState[] = []
  readonly #options: WorldOptions
  readonly #outside: unknown
  #plane: ControlPlane | undefined
  #user: ClusterUser | undefined
  #isOver = false
  #seenRevision = 0

  private constructor(setup: Setup, schedule: Schedule, options: WorldOptions) {
    this.setup = setup
    this.schedule = schedule
    this.#options = options
    this.sources = options.isDetailed ? new RequestSources() : undefined
    const start = setup.now + (options.isShifted ? 5_837_000 : 0)
    this.clock = new VirtualClock({ start, settle: () => this.#settle() })
    this.random = seededRandom(schedule.seed)
    const outside = setup.createWorld()
    this.#outside = outside
    this.history = new History(this.clock, setup.without)
    this.log = new WriteLog(this.clock, this.history, schedule.replicas > 1 && setup.onlyLeaderWrites)
    this.faults = new FaultInjector(this)
    this.cluster = new ClusterFaults(this)
    this.neighbors = new Neighbors(this)
    this.processes = new OperatorProcesses(this, outside)
    this.invariants = new InvariantChecks(setup.invariants, this.history, outside)
    this.network = new Network({
      clock: this.clock,
      random: this.random.fork('network'),
      latency: setup.latency,
      maxRequests: setup.maxRequests,
      act: (process, text, facts, source) => this.faults.act(process, text, facts, source),
      crash: (process) => process.kill(),
      sent: (process, facts) => this.log.sent(process, facts),
      served: (write) => this.#served(write),
      forbidden: (facts, body) => this.log.forbidden(facts, body),
      record: (line, bytes) => this.history.record(line, bytes),
      overloaded: () => this.#loops(`sent more than ${setup.maxRequests} requests`),
      touch: (path) => this.user.touch(path),
      revision: () => this.store.revision(),
      source: () => this.sources?.current(),
    })
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

  get user(): ClusterUser {
    if (this.#user === undefined) throw new TypeError('The world has not started')
    return this.#user
  }

  get store(): Store {
    return this.plane.server.parts.registry.store
  }

  /** Milliseconds of virtual time since the start. */
  get now(): number {
    return this.clock.monotonic()
  }

  /** Whether the run stops in the debugger before each fault. */
  get isInspected(): boolean {
    return this.#options.isInspected ?? false
  }

  get isOver(): boolean {
    return this.#isOver
  }

  async #start(): Promise<void> {
    const { setup } = this
    const random = this.random.fork('cluster')
    this.#plane = await this.drive(setup.startPlane(this.clock, random, this.cluster.plan, this.#outside))
    this.#user = new ClusterUser(this, this.plane.transport())
    this.plane.localServers.serve(webhookHost, async (request) => {
      const server = this.processes.all.find(({ works }) => works)?.webhooks
      if (server === undefined || this.faults.webhooksAreDown) throw new Error('connection refused')
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
    for await (const { changes } of this.store.watch({ prefix: '/registry/', after: this.setup.revision })) {
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
  async drive<T>(work: Promise<T>): Promise<T> {
    let isDone = false
    const done = work.finally(() => {
      isDone = true
    })
    done.catch(() => undefined)
    while (!isDone) {
      await drainMicrotasks()
      if (!isDone) await this.clock.advanceToNext()
    }
    return done
  }

  /** Lets virtual time pass, unless the run has ended early. */
  async advance(millis: number): Promise<void> {
    // In slices, so that a hot loop ends the run. Counted, because times in milliseconds are not exact.
    for (let left = Math.ceil(millis); left > 0 && !this.#isOver; left -= slice) {
      await this.clock.advance(Math.min(slice, left))
    }
  }

  /** Lets virtual time pass until the operator has begun a number of further actions, or the time is over. */
  async advanceActions(count: number, millis: number): Promise<void> {
    const target = this.faults.actions + count
    const end = this.now + millis
    while (!this.#isOver && this.faults.actions < target && this.now < end - 0.01) {
      await this.clock.advance(Math.min(actionStep, end - this.now))
    }
  }

  /** Reports a promise of the operator whose rejection nothing handles. */
  rejected(reason: unknown): void {
    const message = `A promise of the operator was rejected, and nothing handled it: ${errorText(reason)}`
    const frame = reason instanceof Error ? userFrame(reason.stack ?? '') : undefined
    this.history.violate('errors', message, frame === undefined ? [] : [frame])
  }

  /** The objects that were written since the start. */
  objects(): Promise<KubeObject[]> {
    return objectsSince(this.store, this.setup.revision)
  }

  /** The same, and the objects that existed before and that the operator may change: it may restore what it has changed. */
  changeableObjects(): Promise<KubeObject[]> {
    return objectsSince(this.store, this.setup.revision, this.setup.changeable)
  }

  async #settle(): Promise<void> {
    await drainMicrotasks()
    if (!this.setup.hasOngoingInvariants || this.#plane === undefined) return
    const revision = await this.store.revision()
    if (revision === this.#seenRevision) return
    this.#seenRevision = revision
    await this.invariants.check('always', () => this.objects())
    await this.invariants.check('eventually', () => this.objects())
  }

  #served(write: ServedWrite): void {
    this.log.served(write, this.faults.untilEnd > 0)
    // Long before the operator has sent all requests that it may send: each change can be a roll-out, which takes time.
    const most = this.setup.maxRequests / 10
    if (this.log.mostWithinMinute > most)
      this.#loops(
        `changed an object more than ${most} times within a minute, and sent ${this.network.requests} requests`,
      )
  }

  #loops(what: string): void {
    if (this.#isOver) return
    const { busiest } = this.log
    const most = busiest === undefined ? '' : `, most of them ${busiest}`
    this.history.violate('hot loop', `The operator ${what}${most}`)
    this.end()
  }

  /** Kills every process, so that the run ends. */
  end(): void {
    this.#isOver = true
    for (const process of this.processes.all) process.kill()
  }
}
