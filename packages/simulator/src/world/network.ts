import type { KubeObject } from '@kubewright/api'
import type { Random } from '@kubewright/base'
import type { ConnectionError, Transport, TransportRequest, TransportResponse } from '@kubewright/client'
import type { FaultNetwork, FaultProcess, RefusableRequest, Refusal } from '../define/fault-levers.ts'
import { factsOf, isBackground, isWrite, type RequestFacts, requestText } from '../define/request-facts.ts'
import { never, type SimulatedProcess } from './process.ts'
import { bodyOf, connectionError, errorResponse } from './responses.ts'
import { SimulatedWatch } from './simulated-watch.ts'
import type { World } from './world.ts'

/** A write that the server has processed. */
export interface ServedWrite {
  readonly process: SimulatedProcess
  readonly facts: RequestFacts
  /** The path of the object or collection, without query. */
  readonly path: string
  readonly status: number
  readonly body: Uint8Array
  readonly source: string | undefined
  /** Whether the write has changed anything. */
  readonly isEffective: boolean
  /** Whether another request failed meanwhile because of a fault: it may have been one of the operator's webhook for this write. */
  readonly isDisturbed: boolean
}

/** A view of the past for one process. */
interface StaleView {
  /** Undefined for all resources. */
  readonly resource: string | undefined
  readonly revision: number
  readonly until: number
}

interface Disconnection {
  readonly until: number
  readonly code: keyof typeof connectionProblems
  /** Undefined for all requests of all processes. */
  readonly only: { readonly process: FaultProcess; readonly resource: string } | undefined
}

const connectionProblems = { ECONNREFUSED: 'connect ECONNREFUSED', ETIMEDOUT: 'the request timed out' } as const

/** Requests of the operator after which late watch events arrive. */
const maxRequestsWhileLate = 100

/** The connections between the processes of the operator and the API server. Requests take virtual time, and fail as the schedule says. */
export class Network implements FaultNetwork {
  readonly #world: World
  readonly #random: Random
  readonly #watches = new Set<SimulatedWatch>()
  #lags: { readonly resource: string | undefined; readonly until: number }[] = []
  #stale = new WeakMap<FaultProcess, StaleView>()
  /** Ends the waits of late watch events. */
  #late = new AbortController()
  /** The number of requests before the last fault that makes watches late. */
  #requestsBeforeLate = 0
  /** Processes whose watches cannot resume, with the resources that have not been refused yet. */
  readonly #expired = new Map<SimulatedProcess, Set<string>>()
  #disconnections: Disconnection[] = []
  #refusals: { readonly until: number; readonly refusal: (request: RefusableRequest) => Refusal | undefined }[] = []
  readonly #existing = new Set<string>()
  requests = 0
  /** The number of requests of the operator's work that failed because of a fault. */
  #failures = 0

  constructor(world: World) {
    this.#world = world
    this.#random = world.random.fork('network')
  }

  get #now(): number {
    return this.#world.now
  }

  lag(resource: string | undefined, millis: number): void {
    this.#requestsBeforeLate = this.requests
    this.#lags.push({ resource, until: this.#now + millis })
  }

  disconnect(millis: number, code: Disconnection['code'], only?: Disconnection['only']): void {
    this.#disconnections.push({ until: this.#now + millis, code, only })
  }

  refuse(millis: number, refusal: (request: RefusableRequest) => Refusal | undefined): void {
    this.#refusals.push({ until: this.#now + millis, refusal })
  }

  stale(process: FaultProcess, resource: string | undefined, revision: number, millis: number): void {
    this.#requestsBeforeLate = this.requests
    this.#stale.set(process, { resource, revision, until: this.#now + millis })
  }

  /** Delivers late watch events now. */
  #catchUp(): void {
    this.#lags = []
    this.#stale = new WeakMap()
    this.#requestsBeforeLate = this.requests
    this.#late.abort()
    this.#late = new AbortController()
  }

  cutWatches(expired: boolean): void {
    for (const watch of [...this.#watches]) {
      if (expired) {
        const set = this.#expired.get(watch.process) ?? new Set()
        this.#expired.set(watch.process, set.add(watch.resource))
      }
      watch.cut()
    }
  }

  /** The transport of one process. */
  connect(transport: Transport, process: SimulatedProcess): Transport {
    return {
      host: transport.host,
      send: (request) => (process.isDead ? never() : this.#send(transport, process, request)),
      [Symbol.asyncDispose]: async () => undefined,
    }
  }

  async #send(transport: Transport, process: SimulatedProcess, request: TransportRequest): Promise<TransportResponse> {
    const { setup, history, faults, sources } = this.#world
    const facts = factsOf(request)
    if (++this.requests > setup.maxRequests) {
      this.#world.loops(`sent more than ${setup.maxRequests} requests`)
      return never()
    }
    // An owner that is gone, but not in the view of the operator, keeps the garbage collector busy, faster than in a real cluster: there,
    // both take their time. A loop that outlasts the late events is still found.
    if (this.requests > this.#requestsBeforeLate + maxRequestsWhileLate) this.#catchUp()
    history.record(`${process.name} ${request.method} ${request.path}`, request.body)
    if (facts.verb === 'watch') return this.#watch(transport, process, request, facts)
    const counted = !isBackground(facts)
    const source = counted ? sources?.current() : undefined
    if (counted && isWrite(facts)) this.#world.sent(process, facts)
    const injection = counted ? faults.act(process, requestText(facts), facts, source) : {}
    if (injection.crash === 'before') process.kill()
    if (process.isDead) return never()
    await this.#delay(request.signal, injection.slow)
    // A server gives up a request that waits when its connection ends.
    if (injection.slow !== undefined && process.isDead) return never()
    this.#checkReachable(transport, process, facts)
    if (injection.lost === 'before') throw await this.#broken(transport, process)
    const path = request.path.replace(/\?.*/s, '')
    const conflict = injection.isConflict && !(await this.#precede(request, path)) ? 500 : undefined
    const status = injection.status ?? conflict
    const refused = status === undefined ? this.#refusal(facts, path) : { status }
    if (refused !== undefined) {
      this.#failures++
      await this.#answered(process)
      return errorResponse(refused.status, request.method, refused.message)
    }
    const stale = this.#rewritten(process, request, facts)
    // The server processes a request that has reached it even if its sender has died since.
    const { signal: _, ...rest } = stale
    const before = await this.#world.store.revision()
    const failures = this.#failures
    const response = await transport.send(rest)
    const body = await response.body.bytes()
    const isEffective = (await this.#world.store.revision()) > before
    history.record(`${process.name} ${response.status}`, body)
    if (isWrite(facts)) {
      if (response.status < 300) this.created(path)
      const isDisturbed = this.#failures > failures
      this.#world.served({ process, facts, path, status: response.status, body, source, isEffective, isDisturbed })
    } else if (response.status === 403) this.#world.forbidden(facts, body)
    if (injection.crash === 'after') process.kill()
    if (injection.lost === 'after') throw await this.#broken(transport, process)
    await this.#answered(process)
    request.signal?.throwIfAborted()
    // The process works on until its next await.
    if (injection.crash === 'between') this.#world.clock.setTimer(0, () => process.kill(), 'crash')
    return { ...response, body: bodyOf(body) }
  }

  /** Changes the object of a write before it, if the write is conditional on the version. Resolves to whether it did. */
  async #precede({ body }: TransportRequest, path: string): Promise<boolean> {
    const { metadata } = (body === undefined ? {} : JSON.parse(Buffer.from(body).toString())) as Partial<KubeObject>
    return metadata?.resourceVersion !== undefined && (await this.#world.user.touch(path.replace(/\/status$/, '')))
  }

  async #watch(
    transport: Transport,
    process: SimulatedProcess,
    request: TransportRequest,
    facts: RequestFacts,
  ): Promise<TransportResponse> {
    await this.#delay(request.signal)
    this.#checkReachable(transport, process, facts)
    const isStale = this.#staleView(process, facts.plural) !== undefined
    const streamsList = facts.query.includes('sendInitialEvents=true')
    // Servers without the WatchList feature refuse it. Clients then send a list, which may be answered from the cache.
    if (isStale && streamsList) {
      await this.#answered(process)
      return errorResponse(422, 'GET', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch')
    }
    const refused = this.#refusal(facts, request.path)
    if (refused !== undefined) {
      await this.#answered(process)
      return errorResponse(refused.status, 'GET', refused.message)
    }
    if (!streamsList && this.#expired.get(process)?.delete(facts.plural)) {
      await this.#answered(process)
      return errorResponse(410, 'GET', 'too old resource version')
    }
    const response = await transport.send(request)
    if (response.status === 403) {
      const body = await response.body.bytes()
      this.#world.forbidden(facts, body)
      await this.#answered(process)
      return { ...response, body: bodyOf(body) }
    }
    const watch: SimulatedWatch = new SimulatedWatch(process, facts.plural, response.body, {
      host: transport.host,
      hold: () => this.#hold(process, facts.plural),
      record: (chunk) => this.#world.history.record(`${process.name} watch ${facts.plural}`, chunk),
      ended: () => void this.#watches.delete(watch),
    })
    this.#watches.add(watch)
    await this.#answered(process)
    return { ...response, body: watch }
  }

  /** Waits until a watch event may arrive. */
  async #hold(process: SimulatedProcess, resource: string): Promise<void> {
    await this.#world.clock.sleep(this.#latency())
    for (;;) {
      const view = this.#staleView(process, resource)
      let until = view?.until ?? 0
      for (const lag of this.#lags) {
        if (lag.resource === undefined || lag.resource === resource) until = Math.max(until, lag.until)
      }
      if (until <= this.#now + 0.01) break
      const { signal } = this.#late
      await this.#world.clock.sleep(until - this.#now, { signal }).catch(() => undefined)
    }
    await process.awake()
  }

  #staleView(process: SimulatedProcess, resource: string): StaleView | undefined {
    const view = this.#stale.get(process)
    if (view?.resource !== undefined && view.resource !== resource) return undefined
    return view !== undefined && view.until > this.#now ? view : undefined
  }

  /** A list that allows a cached version reads the past while the view of the process is stale. */
  #rewritten(process: SimulatedProcess, request: TransportRequest, facts: RequestFacts): TransportRequest {
    const view = facts.verb === 'list' ? this.#staleView(process, facts.plural) : undefined
    if (view === undefined || !/(^|&)resourceVersion=0(&|$)/.test(facts.query)) return request
    const query = new URLSearchParams(facts.query)
    query.set('resourceVersion', String(view.revision))
    query.set('resourceVersionMatch', 'Exact')
    return { ...request, path: `${request.path.replace(/\?.*/s, '')}?${query.toString()}` }
  }

  #refusal(facts: RequestFacts, path: string): Refusal | undefined {
    if (this.#refusals.length === 0) return undefined
    this.#refusals = this.#refusals.filter(({ until }) => this.#now < until)
    const { verb, subresource } = facts
    const isNew = verb === 'create' || (verb === 'patch' && !this.#existing.has(path))
    const request = { ...facts, isWork: !isBackground(facts), isCreation: isNew && subresource === '' }
    for (const { refusal } of this.#refusals) {
      const found = refusal(request)
      if (found !== undefined) return found
    }
    return undefined
  }

  /** Records that an object exists, so that a patch of it creates nothing. */
  created(path: string): void {
    this.#existing.add(path)
  }

  #checkReachable({ host }: Transport, process: SimulatedProcess, facts: RequestFacts): void {
    for (const { until, code, only } of this.#disconnections) {
      if (this.#now >= until || (only !== undefined && (only.process !== process || only.resource !== facts.plural)))
        continue
      if (!isBackground(facts)) this.#failures++
      throw connectionError(host, connectionProblems[code], code)
    }
  }

  #latency(): number {
    const [low, high] = this.#world.setup.latency
    return low + this.#random.next() * (high - low)
  }

  async #delay(signal: AbortSignal | undefined, more = 0): Promise<void> {
    await this.#world.clock.sleep(this.#latency() + more, { signal })
  }

  async #answered(process: SimulatedProcess): Promise<void> {
    await this.#world.clock.sleep(this.#latency())
    await process.awake()
  }

  async #broken({ host }: Transport, process: SimulatedProcess): Promise<ConnectionError> {
    this.#failures++
    await this.#answered(process)
    return connectionError(host, 'the connection was lost', 'ECONNRESET')
  }
}
