import { createHash } from 'node:crypto'
import type { KubeObject } from '@kubewright/api'
import { drainMicrotasks, errorText, nullLogger, type Random, seededRandom, VirtualClock } from '@kubewright/base'
import { createClient, type Transport, type TransportResponse } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import { createManager, createWebhookHandler } from '@kubewright/runtime'
import type { Store } from '@kubewright/storage'
import { changeField } from './change-field.ts'
import { objectId, objectsSince } from './cluster-state.ts'
import { describeFault, type Fault } from './fault.ts'
import { userFrame } from './host-guards.ts'
import { type Injection, Network, type ServedWrite } from './network.ts'
import type { Invariant, TimelineEntry } from './options.ts'
import { connectWorld } from './outside-world.ts'
import { SimulatedProcess } from './process.ts'
import { isWrite, type RequestFacts, requestText } from './request-text.ts'
import type { Operation, Schedule } from './schedule.ts'
import { type Setup, type Subject, webhookHost } from './setup.ts'
import type { Violation } from './violation.ts'

/** An object that the operator has written. */
export interface WrittenObject {
  readonly path: string
  readonly kind: string
  readonly verbs: Set<string>
}

/** A write of the operator. */
export interface RecordedWrite {
  readonly time: number
  readonly id: string
  readonly verb: string
  /** Whether the object has changed. */
  readonly isEffective: boolean
}

/** Options of {@link World.start}. */
export interface WorldOptions {
  /** Records the source lines of requests and the changes of the cluster. Costs time. */
  readonly isDetailed?: boolean
  /** Changes resource versions and times, to find fields that depend on them. */
  readonly isShifted?: boolean
}

const userAgent = { 'content-type': 'application/json', 'user-agent': 'user' }
const slice = 10_000
const restartDelay = 10_000
const maxRestartDelay = 300_000

/**
 * A cluster with its operator in virtual time. Everything in it is a function of the setup and the schedule. Nothing
 * needs to be disposed: when the world is dropped, no timer or socket of this process refers to it.
 */
export class World {
  readonly setup: Setup
  readonly schedule: Schedule
  readonly clock: VirtualClock
  readonly random: Random
  readonly network: Network
  readonly #options: WorldOptions
  readonly #outside: unknown
  readonly #hash = createHash('sha256')
  readonly timeline: TimelineEntry[] = []
  readonly violations: Violation[] = []
  readonly processes: SimulatedProcess[] = []
  readonly written: Map<string, WrittenObject> = new Map()
  readonly writes: RecordedWrite[] = []
  /** The variant of each subject that exists according to the user. */
  readonly desired: Map<number, number> = new Map()
  readonly states: Set<string> = new Set()
  readonly exits: number[] = []
  readonly fired: Set<Fault> = new Set()
  /** The number of writes that the server refused because the object was not valid. */
  refusals = 0
  /** Whether each action changes something, in order. */
  readonly actionWrites: boolean[] = []
  #plane: ControlPlane | undefined
  #user: Transport | undefined
  #actions = 0
  #faultsEnd = 0
  #webhooksDownUntil = 0
  #holder = ''
  #isOver = false
  #seenRevision = 0
  readonly #eventually = new Set<Invariant>()

  private constructor(setup: Setup, schedule: Schedule, options: WorldOptions) {
    this.setup = setup
    this.schedule = schedule
    this.#options = options
    const start = setup.now + (options.isShifted ? 5_837_000 : 0)
    this.clock = new VirtualClock({ start, settle: () => this.#settle() })
    this.random = seededRandom(schedule.seed)
    this.#outside = setup.createWorld()
    this.network = new Network({
      clock: this.clock,
      random: this.random.fork('network'),
      latency: setup.latency,
      maxRequests: setup.maxRequests,
      act: (process, text, facts) => this.#act(process, text, facts),
      crash: (process) => this.#crash(process),
      sent: (process, facts) => this.#sent(process, facts),
      served: (write) => this.#served(write),
      record: (line, bytes) => this.#record(line, bytes),
      overloaded: () => this.#overloaded(),
      revision: () => this.store.revision(),
      source: () => (options.isDetailed ? sourceLine() : undefined),
    })
  }

  /** Starts the cluster and the replicas of the operator. */
  static async start(setup: Setup, schedule: Schedule, options: WorldOptions = {}): Promise<World> {
    const world = new World(setup, schedule, options)
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

  /** The number of actions that the operator has begun. */
  get actions(): number {
    return this.#actions
  }

  /** Milliseconds of virtual time since the start. */
  get now(): number {
    return this.clock.monotonic()
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** The hash of the history so far. */
  hash(): string {
    return this.#hash.copy().digest('hex')
  }

  async #start(): Promise<void> {
    const { setup } = this
    this.#plane = await this.drive(setup.startPlane(this.clock, this.random.fork('cluster')))
    this.#user = this.plane.transport()
    this.plane.localServers.serve(webhookHost, async (request) => {
      const server = this.processes.find(({ works }) => works)?.webhooks
      if (server === undefined || this.now < this.#webhooksDownUntil) throw new Error('connection refused')
      return server(request)
    })
    this.#seenRevision = await this.store.revision()
    if (this.#options.isShifted) await this.drive(this.#shiftVersions())
    for (let replica = 1; replica <= this.schedule.replicas; replica++) this.#startProcess(replica)
    await this.advance(1000)
  }

  /** Uses up some resource versions. */
  async #shiftVersions(): Promise<void> {
    const path = '/api/v1/namespaces/default/configmaps'
    for (let i = 0; i < 7; i++) {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shift' } }
      await this.request('POST', path, object)
      await this.request('DELETE', `${path}/shift`)
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

  /** Milliseconds until the last fault ends. */
  get untilFaultsEnd(): number {
    return Math.max(0, Math.ceil(this.#faultsEnd - this.now - 0.01))
  }

  tell(actor: TimelineEntry['actor'], text: string, source?: string): void {
    this.timeline.push({ time: Math.round(this.now), actor, text, ...(source === undefined ? {} : { source }) })
  }

  violate(oracle: string, message: string, details: readonly string[] = []): void {
    if (this.setup.without.has(oracle)) return
    if (this.violations.some((one) => one.oracle === oracle && one.message === message)) return
    this.violations.push({ oracle, message, details })
    this.tell('oracle', message)
  }

  rejected(reason: unknown): void {
    this.violate('errors', `A promise of the operator was rejected, and nothing handled it: ${errorText(reason)}`, [
      ...(reason instanceof Error ? [userFrame(reason.stack ?? '') ?? ''].filter(Boolean) : []),
    ])
  }

  /** The objects that were written since the start. */
  objects(): Promise<KubeObject[]> {
    return objectsSince(this.store, this.setup.revision)
  }

  /** Checks the invariants of one moment. */
  async checkInvariants(when: Invariant['when']): Promise<void> {
    const due = this.setup.invariants.filter((one) => one.when === when)
    if (due.length === 0) return
    const objects = await this.objects()
    for (const invariant of due) {
      const problem = invariant.check(objects, this.#outside)
      if (when === 'eventually') {
        if (problem === undefined) this.#eventually.add(invariant)
      } else if (problem !== undefined) this.violate(invariant.name, problem)
    }
  }

  /** Reports the invariants that held at no time. */
  checkEventually(): void {
    for (const invariant of this.setup.invariants) {
      if (invariant.when === 'eventually' && !this.#eventually.has(invariant)) {
        this.violate(invariant.name, `The invariant "${invariant.name}" did not hold at any time`)
      }
    }
  }

  async #settle(): Promise<void> {
    await drainMicrotasks()
    if (!this.setup.hasOngoingInvariants || this.#plane === undefined) return
    const revision = await this.store.revision()
    if (revision === this.#seenRevision) return
    this.#seenRevision = revision
    await this.checkInvariants('always')
    await this.checkInvariants('eventually')
  }

  // ---- the user ----

  /** Sends a request of the user. */
  async request(method: string, path: string, body?: object): Promise<{ status: number; object: KubeObject }> {
    if (this.#user === undefined) throw new TypeError('The world has not started')
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const response: TransportResponse = await this.#user.send({ method, path, headers: userAgent, body: bytes })
    const text = Buffer.from(await response.body.bytes()).toString()
    this.#record(`user ${method} ${path} ${response.status}`, bytes)
    return { status: response.status, object: JSON.parse(text) as KubeObject }
  }

  /** Performs an operation of the schedule. The user retries what the cluster cannot do at the moment. */
  async perform({ do: verb, subject: index, variant }: Operation): Promise<void> {
    const subject = this.setup.subjects[index]
    if (subject === undefined) return
    const text = `${subject.kind.kind} ${subject.namespace === undefined ? '' : `${subject.namespace}/`}${subject.name}`
    const body = this.setup.bodyOf(subject, variant)
    const suffix = verb === 'delete' ? '' : this.setup.variantText(subject, variant)
    const giveUp = this.now + 300_000
    while (!this.#isOver) {
      const { status, message } = await this.drive(this.#attempt(verb, subject, body))
      const isDone = status < 300 || (verb !== 'create' && status === 404)
      if (isDone) {
        this.tell('user', `The user ${verb}s ${text}${suffix}`)
        if (verb === 'delete') this.desired.delete(index)
        else if (status < 300) this.desired.set(index, variant)
        this.network.created(`${subject.collection}/${subject.name}`)
        return
      }
      // A name is free when the deleted object is gone.
      const isTemporary = status >= 500 || status === 429 || (status === 409 && verb !== 'delete')
      if (!isTemporary || this.now > giveUp) {
        this.tell('user', `The user cannot ${verb} ${text}${suffix}: ${message}`)
        return
      }
      await this.advance(1000)
    }
  }

  async #attempt(
    verb: Operation['do'],
    subject: Subject,
    body: object,
  ): Promise<{ readonly status: number; readonly message: string }> {
    const path = `${subject.collection}/${subject.name}`
    const answer = async (): Promise<{ status: number; object: KubeObject }> => {
      if (verb === 'create') return this.request('POST', subject.collection, this.setup.objectOf(subject, body))
      if (verb === 'delete') return this.request('DELETE', path)
      const current = await this.request('GET', path)
      if (current.status !== 200) return current
      const { apiVersion, kind, metadata, status } = current.object as KubeObject & { status?: unknown }
      return this.request('PUT', path, { apiVersion, kind, metadata, ...body, ...(status ? { status } : {}) })
    }
    const { status, object } = await answer()
    return { status, message: String((object as { message?: unknown }).message ?? '') }
  }

  // ---- the processes ----

  #startProcess(replica: number): SimulatedProcess {
    const number = this.processes.filter((one) => one.replica === replica).length + 1
    const name = this.schedule.replicas > 1 ? `replica ${replica}, process ${number}` : `process ${number}`
    const process = new SimulatedProcess(name, replica, this.clock)
    this.processes.push(process)
    this.tell('operator', `The operator starts (${name})`)
    const { setup, network } = this
    const world = connectWorld(this.#outside, {
      process,
      act: (text) => this.#act(process, text, undefined),
      crash: () => this.#crash(process),
      delay: () => this.clock.sleep(1),
    })
    const operator = setup.createOperator(world)
    process.operator = operator
    const client = createClient({
      transport: network.connect(this.plane.transport(), process),
      impersonate: setup.rights,
      clock: process.clock,
      namespace: 'default',
      listNamespace: '',
    })
    const random = this.random.fork(name)
    const log = setup.log ?? nullLogger
    const { webhooks, conversions } = operator
    if (webhooks.length + conversions.length > 0) {
      const handle = createWebhookHandler({ webhooks, conversions, client, clock: process.clock, log })
      process.webhooks = async (request) => handle(request as never)
    }
    const leaderElection = this.schedule.replicas > 1 && operator.leaderElection
    const clock = process.clock
    const identity = `${operator.name}-${replica}-${number}`
    const manager = createManager({
      operator,
      client,
      clock,
      random,
      log,
      identity,
      namespace: 'default',
      leaderElection,
    })
    process.manager = manager
    const exited = (error: unknown): void => {
      if (process.isDead) return
      process.hasExited = true
      process.kill()
      this.exits.push(this.now)
      this.tell('operator', `The operator exits (${name}): ${errorText(error)}`)
      const exits = this.exits.length
      const delay = Math.min(maxRestartDelay, restartDelay * 2 ** Math.min(exits - 1, 6))
      this.clock.setTimer(delay, () => this.#startProcess(replica), 'restart')
    }
    manager
      .start({ signal: new AbortController().signal })
      .then(() => exited(new Error('its manager has ended')), exited)
    return process
  }

  #crash(process: SimulatedProcess): void {
    process.kill()
  }

  /** Kills every process, so that the run ends. */
  #overloaded(): void {
    if (this.#isOver) return
    const { maxRequests } = this.setup
    const busiest = mostFrequent(this.writes.map(({ verb, id }) => `${verb} ${id}`))
    this.violate(
      'hot loop',
      `The operator sent more than ${maxRequests} requests${busiest === undefined ? '' : `, most of them ${busiest}`}`,
    )
    this.end()
  }

  /** Kills every process. */
  end(): void {
    this.#isOver = true
    for (const process of this.processes) process.kill()
  }

  // ---- actions and faults ----

  #act(process: SimulatedProcess, text: string, facts: RequestFacts | undefined): Injection {
    const number = ++this.#actions
    this.actionWrites.push(facts === undefined || isWrite(facts))
    let injection: Injection = {}
    for (const fault of this.schedule.faults) {
      const last = fault.kind === 'error' ? fault.at + fault.times - 1 : fault.at
      if (number < fault.at || number > last) continue
      if (!this.fired.has(fault)) {
        this.fired.add(fault)
        this.tell('fault', `Fault: ${describeFault(fault, text)}`)
      }
      injection = { ...injection, ...this.#inject(fault, process, facts) }
    }
    if (facts === undefined) this.tell('operator', `The operator calls ${text}`)
    return injection
  }

  #inject(fault: Fault, process: SimulatedProcess, facts: RequestFacts | undefined): Injection {
    const lasts = (millis: number): void => {
      this.#faultsEnd = Math.max(this.#faultsEnd, this.now + millis)
    }
    lasts(0)
    const later = (millis: number, run: () => void): void => {
      lasts(millis)
      this.clock.setTimer(millis, run, 'fault')
    }
    switch (fault.kind) {
      case 'crash':
        // The crash happens within the round trip of the request.
        this.#restart(process, fault.downtime)
        lasts(fault.downtime + 1000)
        return { crash: fault.when }
      case 'stale':
        this.#restart(process, 0, (next) => {
          lasts(fault.lag)
          void this.store.revision().then((revision) => {
            this.network.stale(next, Math.max(this.setup.revision, revision - fault.changes), fault.lag)
          })
        })
        return { crash: 'between' }
      case 'error':
        return {
          status: fault.status === 409 && facts?.verb !== 'update' && facts?.verb !== 'patch' ? 500 : fault.status,
        }
      case 'lost':
        return { lost: fault.effect ? 'after' : 'before' }
      case 'slow':
        lasts(fault.by)
        return { slow: fault.by }
      case 'watch-cut':
        this.network.cutWatches(fault.expired)
        return {}
      case 'watch-lag':
        this.network.lag(fault.resource, fault.for)
        lasts(fault.for)
        return {}
      case 'child-deleted':
      case 'child-changed':
        later(fault.delay, () => void this.#meddle(fault))
        return {}
      case 'server-restart':
        this.network.serverDown(fault.for)
        lasts(fault.for)
        return {}
      case 'webhooks-down':
        this.#webhooksDownUntil = this.now + fault.for
        lasts(fault.for)
        return {}
      case 'pod-crash':
        later(fault.delay, () => void this.#crashPod(fault.pick))
        return {}
      case 'pause':
        process.pause()
        later(fault.for, () => process.resume())
        return {}
      case 'lease-lost':
        this.network.loseLease(process, fault.for)
        lasts(fault.for)
        return {}
      case 'clock-jump':
        process.clock.setSkew(fault.by)
        return {}
      case 'quota':
        this.network.quota(fault.for)
        lasts(fault.for)
        return {}
    }
  }

  /** Starts the next process when this one has died, after the downtime. */
  #restart(process: SimulatedProcess, downtime: number, started?: (next: SimulatedProcess) => void): void {
    process.onKill(() => {
      this.clock.setTimer(
        downtime,
        () => {
          if (this.#isOver) return
          const next = this.#startProcess(process.replica)
          started?.(next)
        },
        'restart',
      )
    })
  }

  /** Deletes or changes a child, as a user would. */
  async #meddle({ kind, pick }: Extract<Fault, { kind: 'child-deleted' | 'child-changed' }>): Promise<void> {
    const candidates: { readonly id: string; readonly child: WrittenObject; readonly object: KubeObject }[] = []
    for (const id of [...this.written.keys()].sort()) {
      const child = this.written.get(id)!
      if (this.setup.isSubjectKind(child.kind) || untouchableKinds.has(child.kind)) continue
      // An operator that only creates objects of a kind does not claim to keep their contents.
      if (kind === 'child-changed' && !child.verbs.has('patch') && !child.verbs.has('update')) continue
      const { status, object } = await this.request('GET', child.path)
      if (status !== 200 || object.metadata.deletionTimestamp !== undefined) continue
      if ((object.metadata.ownerReferences ?? []).length === 0 && !this.setup.watchedKinds.has(child.kind)) continue
      candidates.push({ id, child, object })
    }
    const chosen = candidates[pick % Math.max(1, candidates.length)]
    if (chosen === undefined) return
    const { id, child, object } = chosen
    if (kind === 'child-deleted') {
      await this.request('DELETE', `${child.path}?propagationPolicy=Background`)
      this.tell('user', `A user deletes ${id}`)
      return
    }
    for (const { changed, path } of changeField(object, pick)) {
      const { status } = await this.request('PUT', child.path, changed)
      if (status >= 300) continue
      this.tell('user', `A user changes ${path} of ${id}`)
      return
    }
  }

  async #crashPod(pick: number): Promise<void> {
    const pods = (await this.objects()).filter(({ kind }) => kind === 'Pod').map(objectId)
    const pod = pods.sort()[pick % Math.max(1, pods.length)]
    if (pod === undefined) return
    this.tell('cluster', `The containers of ${pod} crash`)
    this.plane.controllers.nodes?.crash(pod.replace('Pod ', ''))
  }

  // ---- records ----

  #sent(process: SimulatedProcess, facts: RequestFacts): void {
    const { manager } = process
    if (this.schedule.replicas < 2 || !this.setup.onlyLeaderWrites || manager === undefined) return
    if (this.#holder !== '' && this.#holder !== manager.identity) {
      const who = `Replica ${process.replica} sent "${requestText(facts)}" although ${this.#holder} leads`
      this.violate('leader', who)
    }
  }

  #served({ process, facts, path, status, body, source, isEffective }: ServedWrite): void {
    const object = JSON.parse(Buffer.from(body).toString()) as KubeObject & { spec?: { holderIdentity?: string } }
    if (facts.plural === 'leases') {
      if (status < 300) this.#holder = object.spec?.holderIdentity ?? ''
      return
    }
    if (facts.plural === 'events') return
    this.tell('operator', `The operator: ${requestText(facts)} → ${status}${isEffective ? '' : ' (no change)'}`, source)
    if (status === 400 || status === 422) this.refusals++
    if (status === 403 || status === 400 || status === 422 || status === 500) this.#checkRefusal(object, facts)
    const id =
      status < 300 && object.kind !== 'Status' ? objectId(object) : `${facts.plural} ${facts.namespace}/${facts.name}`
    this.writes.push({ time: this.now, id, verb: facts.verb, isEffective })
    this.states.add(stateText(facts, status, object, process))
    if (status >= 300 || object.kind === 'Status') return
    const place = facts.verb === 'create' ? `${path}/${object.metadata.name}` : path
    const known = this.written.get(id)
    if (known !== undefined) known.verbs.add(facts.verb)
    else if (facts.subresource === '') {
      this.written.set(id, { path: place, kind: object.kind, verbs: new Set([facts.verb]) })
    }
  }

  #checkRefusal(answer: object, facts: RequestFacts): void {
    const { message = '' } = answer as { message?: string }
    if (/cannot \w+ resource "/.test(message)) {
      this.violate('rights', `The operator lacks a permission: ${message}`)
    }
    const webhook = /admission webhook "([^"]+)" denied the request/.exec(message)?.[1]
    if (webhook !== undefined && isWrite(facts)) {
      this.violate('own webhooks', `The operator's own webhook refused "${requestText(facts)}": ${message}`)
    }
  }

  #record(line: string, bytes: Uint8Array | undefined): void {
    this.#hash.update(`${this.clock.nowMicros()} ${line}\n`)
    if (bytes !== undefined) this.#hash.update(bytes)
  }
}

/** Kinds whose objects hold data or run once, so that an operator need not replace them. */
const untouchableKinds = new Set(['PersistentVolumeClaim', 'PersistentVolume', 'Job', 'Namespace', 'Lease', 'Event'])

const conditionText = ({ type, status }: { type?: string; status?: string }): string => `${type}=${status}`

/** An abstraction of the state that a write reaches, to measure coverage. */
function stateText(facts: RequestFacts, status: number, object: KubeObject, process: SimulatedProcess): string {
  const { verb, plural, subresource } = facts
  const found = (object as { status?: { conditions?: { type?: string; status?: string }[] } }).status
  const conditions = Array.isArray(found?.conditions) ? found.conditions.map(conditionText).join() : ''
  const isDeleting = object.metadata?.deletionTimestamp !== undefined
  const isRestarted = !process.name.endsWith('1')
  return [verb, plural, subresource, status, conditions, isDeleting, isRestarted].join(' ')
}

function mostFrequent(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0]
}

function sourceLine(): string | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 50
  const { stack = '' } = new Error('source')
  Error.stackTraceLimit = stackTraceLimit
  return userFrame(stack)?.replace(/^at (async )?/, '')
}
