import type { KubeObject } from '@kubewright/api'
import type { Clock, Random } from '@kubewright/base'
import type { ConnectionError, Transport, TransportRequest, TransportResponse } from '@kubewright/client'
import { never, type SimulatedProcess } from './process.ts'
import { factsOf, isBackground, isWrite, type RequestFacts, requestText } from './request-text.ts'
import { bodyOf, connectionError, errorResponse } from './responses.ts'
import { SimulatedWatch } from './simulated-watch.ts'

/** What happens to one action of the operator. */
export interface Injection {
  readonly crash?: 'before' | 'after' | 'between'
  /** The status of an answer without effect. */
  readonly status?: number
  /** Whether another writer changes the object first, so that a write of an old version is refused. */
  readonly isConflict?: boolean
  readonly lost?: 'before' | 'after'
  /** Milliseconds that the request takes in addition. */
  readonly slow?: number
}

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

/** The parts of a {@link Network}. */
export interface NetworkParts {
  readonly clock: Clock
  readonly random: Random
  /** The range of the latency in each direction, in milliseconds. */
  readonly latency: readonly [number, number]
  readonly maxRequests: number
  /** Called for each action before it is sent. Executes the faults of the action. */
  readonly act: (
    process: SimulatedProcess,
    text: string,
    facts: RequestFacts | undefined,
    source: string | undefined,
  ) => Injection
  readonly crash: (process: SimulatedProcess) => void
  /** Called when a process sends a write. */
  readonly sent: (process: SimulatedProcess, facts: RequestFacts) => void
  readonly served: (write: ServedWrite) => void
  /** Called with the answer to a read that the server refused for lack of a permission. */
  readonly forbidden: (facts: RequestFacts, body: Uint8Array) => void
  /** Adds a line to the history. */
  readonly record: (line: string, bytes?: Uint8Array) => void
  readonly overloaded: () => void
  /** Lets another writer change an object twice, so that it is the same again. Resolves to whether that was possible. */
  readonly touch: (path: string) => Promise<boolean>
  /** The newest revision of the store. */
  readonly revision: () => Promise<number>
  /** The line of the operator's code that sends a request, if stories need it. */
  readonly source: () => string | undefined
}

/** A view of the past for one process. */
interface StaleView {
  /** Undefined for all resources. */
  readonly resource: string | undefined
  readonly revision: number
  readonly until: number
}

/** Requests of the operator after which late watch events arrive. */
const maxRequestsWhileLate = 100

/**
 * The connections between the processes of the operator and the API server. Requests take virtual time, and fail as the
 * schedule says.
 */
export class Network {
  readonly #parts: NetworkParts
  readonly #watches = new Set<SimulatedWatch>()
  #lags: { readonly resource: string | undefined; readonly until: number }[] = []
  #stale = new WeakMap<SimulatedProcess, StaleView>()
  /** Ends the waits of late watch events. */
  #late = new AbortController()
  /** The number of requests before the last fault that makes watches late. */
  #requestsBeforeLate = 0
  /** Processes whose watches cannot resume, with the resources that have not been refused yet. */
  readonly #expired = new Map<SimulatedProcess, Set<string>>()
  #downUntil = 0
  #watchesDownUntil = 0
  #quotaUntil = 0
  readonly #forbidden = new Map<string, number>()
  readonly #leaseLost = new Map<SimulatedProcess, number>()
  readonly #existing = new Set<string>()
  requests = 0
  /** The number of requests that failed because of a fault. */
  #failures = 0

  constructor(parts: NetworkParts) {
    this.#parts = parts
  }

  get #now(): number {
    return this.#parts.clock.monotonic()
  }

  lag(resource: string | undefined, millis: number): void {
    this.#requestsBeforeLate = this.requests
    this.#lags.push({ resource, until: this.#now + millis })
  }

  /** Makes the API server unreachable, and its watch cache empty afterwards. */
  serverDown(millis: number): void {
    this.#downUntil = Math.max(this.#downUntil, this.#now + millis)
    this.cutWatches(true)
  }

  /** Ends all watches. New ones fail for some time; then the resource versions are too old to resume. */
  interruptWatches(millis: number): void {
    this.#watchesDownUntil = Math.max(this.#watchesDownUntil, this.#now + millis)
    this.cutWatches(true)
  }

  /** Takes the permissions for a resource from the operator. */
  forbid(plural: string, millis: number): void {
    this.#forbidden.set(plural, this.#now + millis)
  }

  quota(millis: number): void {
    this.#quotaUntil = this.#now + millis
  }

  loseLease(process: SimulatedProcess, millis: number): void {
    this.#leaseLost.set(process, this.#now + millis)
  }

  /** Makes the first lists of a process stale, and its watches as late, for one resource or all. */
  stale(process: SimulatedProcess, resource: string | undefined, revision: number, millis: number): void {
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
    const { act, crash, sent, served, record, overloaded, maxRequests } = this.#parts
    const facts = factsOf(request)
    if (++this.requests > maxRequests) {
      overloaded()
      return never()
    }
    // An owner that is gone, but not in the view of the operator, keeps the garbage collector busy, faster than in a real cluster: there,
    // both take their time. A loop that outlasts the late events is still found.
    if (this.requests > this.#requestsBeforeLate + maxRequestsWhileLate) this.#catchUp()
    record(`${process.name} ${request.method} ${request.path}`, request.body)
    if (facts.verb === 'watch') return this.#watch(transport, process, request, facts)
    const counted = !isBackground(facts)
    const source = counted ? this.#parts.source() : undefined
    if (counted && isWrite(facts)) sent(process, facts)
    const injection = counted ? act(process, requestText(facts), facts, source) : {}
    if (injection.crash === 'before') crash(process)
    if (process.isDead) return never()
    await this.#delay(request.signal, injection.slow)
    // A server gives up a request that waits when its connection ends.
    if (injection.slow !== undefined && process.isDead) return never()
    this.#checkReachable(transport, process, facts)
    if (injection.lost === 'before') throw await this.#broken(transport, process)
    const path = request.path.replace(/\?.*/s, '')
    const conflict = injection.isConflict && !(await this.#precede(request, path)) ? 500 : undefined
    const refused = injection.status ?? conflict ?? (counted ? this.#refusal(facts, path) : undefined)
    if (refused !== undefined) {
      this.#failures++
      await this.#answered(process)
      return errorResponse(refused, request.method)
    }
    if (counted && this.#isForbidden(facts)) {
      this.#failures++
      await this.#answered(process)
      return errorResponse(403, request.method, forbiddenText(facts))
    }
    const stale = this.#rewritten(process, request, facts)
    // The server processes a request that has reached it even if its sender has died since.
    const { signal: _, ...rest } = stale
    const before = await this.#parts.revision()
    const failures = this.#failures
    const response = await transport.send(rest)
    const body = await response.body.bytes()
    const isEffective = (await this.#parts.revision()) > before
    record(`${process.name} ${response.status}`, body)
    if (isWrite(facts)) {
      if (response.status < 300) this.created(path)
      const isDisturbed = this.#failures > failures
      served({ process, facts, path, status: response.status, body, source, isEffective, isDisturbed })
    } else if (response.status === 403) this.#parts.forbidden(facts, body)
    if (injection.crash === 'after') crash(process)
    if (injection.lost === 'after') throw await this.#broken(transport, process)
    await this.#answered(process)
    request.signal?.throwIfAborted()
    // The process works on until its next await.
    if (injection.crash === 'between') this.#parts.clock.setTimer(0, () => crash(process), 'crash')
    return { ...response, body: bodyOf(body) }
  }

  /** Changes the object of a write before it, if the write is conditional on the version. Resolves to whether it did. */
  async #precede({ body }: TransportRequest, path: string): Promise<boolean> {
    const { metadata } = (body === undefined ? {} : JSON.parse(Buffer.from(body).toString())) as Partial<KubeObject>
    return metadata?.resourceVersion !== undefined && (await this.#parts.touch(path.replace(/\/status$/, '')))
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
    if (this.#now < this.#watchesDownUntil) {
      await this.#answered(process)
      return errorResponse(429, 'GET', 'too many requests, please try again later')
    }
    if (!streamsList && this.#expired.get(process)?.delete(facts.plural)) {
      await this.#answered(process)
      return errorResponse(410, 'GET', 'too old resource version')
    }
    const response = await transport.send(request)
    if (response.status === 403) {
      const body = await response.body.bytes()
      this.#parts.forbidden(facts, body)
      await this.#answered(process)
      return { ...response, body: bodyOf(body) }
    }
    const watch: SimulatedWatch = new SimulatedWatch(process, facts.plural, response.body, {
      host: transport.host,
      hold: () => this.#hold(process, facts.plural),
      record: (chunk) => this.#parts.record(`${process.name} watch ${facts.plural}`, chunk),
      ended: () => void this.#watches.delete(watch),
    })
    this.#watches.add(watch)
    await this.#answered(process)
    return { ...response, body: watch }
  }

  /** Waits until a watch event may arrive. */
  async #hold(process: SimulatedProcess, resource: string): Promise<void> {
    await this.#parts.clock.sleep(this.#latency())
    for (;;) {
      const view = this.#staleView(process, resource)
      let until = view?.until ?? 0
      for (const lag of this.#lags) {
        if (lag.resource === undefined || lag.resource === resource) until = Math.max(until, lag.until)
      }
      if (until <= this.#now + 0.01) break
      const { signal } = this.#late
      await this.#parts.clock.sleep(until - this.#now, { signal }).catch(() => undefined)
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

  #isForbidden({ plural }: RequestFacts): boolean {
    return this.#now < (this.#forbidden.get(plural) ?? 0)
  }

  /** A quota refuses the creation of objects, also by apply. */
  #refusal({ verb, subresource }: RequestFacts, path: string): number | undefined {
    if (this.#now >= this.#quotaUntil || subresource !== '') return undefined
    return verb === 'create' || (verb === 'patch' && !this.#existing.has(path)) ? 403 : undefined
  }

  /** Records that an object exists, so that a quota does not refuse patches of it. */
  created(path: string): void {
    this.#existing.add(path)
  }

  #checkReachable({ host }: Transport, process: SimulatedProcess, { plural }: RequestFacts): void {
    if (this.#now < this.#downUntil) {
      this.#failures++
      throw connectionError(host, 'connect ECONNREFUSED', 'ECONNREFUSED')
    }
    if (plural === 'leases' && this.#now < (this.#leaseLost.get(process) ?? 0)) {
      throw connectionError(host, 'the request timed out', 'ETIMEDOUT')
    }
  }

  #latency(): number {
    const [low, high] = this.#parts.latency
    return low + this.#parts.random.next() * (high - low)
  }

  async #delay(signal: AbortSignal | undefined, more = 0): Promise<void> {
    await this.#parts.clock.sleep(this.#latency() + more, { signal })
  }

  async #answered(process: SimulatedProcess): Promise<void> {
    await this.#parts.clock.sleep(this.#latency())
    await process.awake()
  }

  async #broken({ host }: Transport, process: SimulatedProcess): Promise<ConnectionError> {
    this.#failures++
    await this.#answered(process)
    return connectionError(host, 'the connection was lost', 'ECONNRESET')
  }
}

const forbiddenText = ({ verb, plural, group, name, namespace }: RequestFacts): string =>
  `${plural} "${name}" is forbidden: User "operator" cannot ${verb} resource "${plural}" in API group "${group}" in the namespace "${namespace}"`
