import { newGenericServerResponse } from '@kubewright/api'
import { type Clock, type Duration, toMillis } from '@kubewright/base'
import { ConnectionError, type Transport, type TransportBody, type TransportRequest } from '@kubewright/client'
import { matchesRequest, type RequestMatch } from './request-facts.ts'

/** The client that sends a request: of the test, the controllers or webhooks of the operator, or the built-in controllers. */
export type RequestSender = 'test' | 'operator' | 'webhooks' | 'controllers'

/** A failure of requests; see `TestEnv.fail`. */
export interface FaultOptions extends RequestMatch {
  /** How many requests fail. @default 1 */
  readonly times?: number | undefined
  /** How many matching requests pass before the first one fails. @default 0 */
  readonly skip?: number | undefined
  /** The HTTP status of the response. @default 500 */
  readonly status?: number | undefined
  /** Fails without a response: with a lost connection, or with a timeout after `delay`. @default a response with `status` */
  readonly error?: 'connection' | 'timeout' | undefined
  /**
   * Whether the server processes the request before it fails. After a lost response the caller cannot know whether its
   * write was made. @default false
   */
  readonly after?: boolean | undefined
  /** How long the failure takes, in the time of the environment. @default none; '30s' for a timeout */
  readonly delay?: Duration | undefined
  /** Whose requests fail. @default 'operator' */
  readonly sender?: RequestSender | undefined
}

/** A failure that was requested with `TestEnv.fail`. Disposing it ends the failure. */
export interface Fault extends Disposable {
  /** The number of requests that have failed. */
  readonly hits: number
}

/** Selects the request at which the operator crashes; see `TestEnv.crashAt`. */
export interface CrashOptions extends RequestMatch {
  /** Whether the server processes the request before the crash. @default false */
  readonly after?: boolean | undefined
  /** How many matching requests pass before. @default 0 */
  readonly skip?: number | undefined
  /** How long the operator stays down. @default none */
  readonly downtime?: Duration | undefined
}

/** A crash that was requested with `TestEnv.crashAt`. Disposing it cancels the crash. */
export interface Crash extends Fault {
  /** Resolves when the operator runs again. */
  readonly restarted: Promise<void>
}

/** One run of the operator. After its end none of its requests reaches the server. */
export class Life {
  isOver = false
  readonly watches: Set<CuttableBody> = new Set()

  /** Ends all requests and watches of this run, as the end of its process would. */
  end(): void {
    this.isOver = true
    for (const watch of [...this.watches]) watch.cut()
  }
}

interface Rule {
  readonly match: RequestMatch
  readonly sender: RequestSender
  skip: number
  left: number
  hits: number
  readonly strike: (request: TransportRequest, send: () => Promise<unknown>, host: string) => Promise<Answer>
}

type Answer = Awaited<ReturnType<Transport['send']>>

/** The failures of one environment. Wraps its transports to produce them. */
export class Faults {
  readonly #clock: Clock
  readonly #rules = new Set<Rule>()
  readonly #watches = new Map<RequestSender, Set<CuttableBody>>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Makes requests fail until the fault is used up or disposed. */
  fail(options: FaultOptions): Fault {
    const { times = 1, skip = 0, status = 500, error, after = false, sender = 'operator' } = options
    const { delay = error === 'timeout' ? '30s' : undefined } = options
    return this.#add(options, sender, skip, times, async (request, send, host) => {
      if (after) await send()
      if (delay !== undefined) await this.#clock.sleep(toMillis(delay), { signal: request.signal })
      if (error === undefined) return failedResponse(status, request)
      const problem = error === 'timeout' ? 'the request timed out' : 'the connection was lost'
      throw new ConnectionError(`${problem} (fault of the test)`, { host, cause: brokenPipe() })
    })
  }

  /** Calls `crash` at a request of the operator, once. */
  crashAt(options: CrashOptions, crash: () => void): Fault {
    const { skip = 0, after = false } = options
    return this.#add(options, 'operator', skip, 1, async (_, send, host) => {
      if (after) await send()
      crash()
      throw stopped(host)
    })
  }

  /** Ends the open watches of a sender, as a lost connection would. Returns their number. */
  cutWatches(match: RequestMatch, sender: RequestSender): number {
    const open = [...(this.#watches.get(sender) ?? [])].filter(({ request }) => matchesRequest(match, request))
    for (const watch of open) watch.cut()
    return open.length
  }

  /** Wraps a transport. `life` is the run of the operator that it belongs to. */
  wrap(transport: Transport, sender: RequestSender, life?: Life): Transport {
    const { upgrade } = transport
    const watches = this.#watches.get(sender) ?? new Set()
    this.#watches.set(sender, watches)
    return {
      host: transport.host,
      send: async (request) => {
        if (life?.isOver) throw stopped(transport.host)
        const rule = this.#find(sender, request)
        if (rule !== undefined) return rule.strike(request, () => finished(transport, request), transport.host)
        const response = await transport.send(request)
        if (!isWatch(request)) return response
        const body: CuttableBody = new CuttableBody(request, response.body, transport.host, () => {
          watches.delete(body)
          life?.watches.delete(body)
        })
        watches.add(body)
        life?.watches.add(body)
        // The run may have ended while the server accepted the watch.
        if (life?.isOver) body.cut()
        return { ...response, body }
      },
      ...(upgrade ? { upgrade: (request) => upgrade.call(transport, request) } : {}),
      [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
    }
  }

  #add(match: RequestMatch, sender: RequestSender, skip: number, times: number, strike: Rule['strike']): Fault {
    const rule: Rule = { match, sender, skip, left: times, hits: 0, strike }
    this.#rules.add(rule)
    return {
      get hits() {
        return rule.hits
      },
      [Symbol.dispose]: () => void this.#rules.delete(rule),
    }
  }

  /** The first fault that concerns a request. Counts the request. */
  #find(sender: RequestSender, request: TransportRequest): Rule | undefined {
    for (const rule of this.#rules) {
      if (rule.sender !== sender || !matchesRequest(rule.match, request)) continue
      if (rule.skip > 0) {
        rule.skip--
        continue
      }
      rule.hits++
      rule.left--
      if (rule.left <= 0) this.#rules.delete(rule)
      return rule
    }
    return undefined
  }
}

// The text comes first: it spares most requests the parsing.
const isWatch = (request: TransportRequest): boolean =>
  request.path.includes('watch=') && matchesRequest({ verb: 'watch' }, request)

/** Sends a request and reads its response, so that the server has processed it. */
async function finished(transport: Transport, request: TransportRequest): Promise<void> {
  const { body } = await transport.send(request)
  if (isWatch(request)) body.discard()
  else await body.bytes()
}

function failedResponse(code: number, { method }: TransportRequest): Answer {
  const { status } = newGenericServerResponse({ code, verb: method, serverMessage: 'fault of the test' })
  const bytes = Buffer.from(JSON.stringify(status))
  return {
    status: code,
    headers: { 'content-type': ['application/json'] },
    body: {
      bytes: async () => bytes,
      discard: () => undefined,
      async *[Symbol.asyncIterator]() {
        yield bytes
      },
    },
  }
}

const brokenPipe = (): Error => Object.assign(new Error('fault of the test'), { code: 'ECONNRESET' })

const stopped = (host: string): ConnectionError =>
  new ConnectionError('the operator was stopped by the test', { host, cause: undefined })

/** The body of a watch, which the test can end. */
class CuttableBody implements TransportBody {
  readonly request: TransportRequest
  readonly #body: TransportBody
  readonly #host: string
  readonly #ended: () => void
  #isCut = false
  #reject: ((error: Error) => void) | undefined

  constructor(request: TransportRequest, body: TransportBody, host: string, ended: () => void) {
    this.request = request
    this.#body = body
    this.#host = host
    this.#ended = ended
  }

  cut(): void {
    this.#isCut = true
    this.#ended()
    this.#body.discard()
    this.#reject?.(this.#error())
  }

  bytes(): Promise<Uint8Array> {
    this.#ended()
    return this.#body.bytes()
  }

  discard(): void {
    this.#ended()
    this.#body.discard()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const chunks = this.#body[Symbol.asyncIterator]()
    try {
      for (;;) {
        if (this.#isCut) throw this.#error()
        const chunk = await this.#unlessCut(chunks.next())
        if (chunk.done) return
        yield chunk.value
      }
    } finally {
      this.#ended()
      // Ends a read in progress, for which the generator would wait.
      this.#body.discard()
      await chunks.return?.()
    }
  }

  #unlessCut<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      work.then(resolve, reject)
    })
  }

  #error(): ConnectionError {
    return new ConnectionError('the watch was cut by the test', { host: this.#host, cause: brokenPipe() })
  }
}
