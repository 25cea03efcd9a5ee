// A transport that behaves like a hostile proxy between a client and an API server. A seeded random source selects
// the fault for each request. Faults are counted, so that a test can verify that they occurred.
import { onAbort, type Random } from '@kubewright/base'
import {
  ConnectionError,
  type Transport,
  type TransportBody,
  type TransportRequest,
  type TransportResponse,
} from '@kubewright/client'

/** The faults: what the proxy does instead of, or with, a response. */
export const faults = [
  'refuse',
  'never answer',
  'answer 410',
  'answer 429',
  'answer 500',
  'duplicate',
  'truncate',
  'cut',
  'reset',
  'stall',
  'expire',
  'hide bookmarks',
] as const
export type Fault = (typeof faults)[number]

const early: readonly Fault[] = ['refuse', 'never answer', 'answer 410', 'answer 429', 'answer 500', 'duplicate']
const late: readonly Fault[] = ['truncate', 'cut', 'reset', 'stall', 'expire', 'hide bookmarks']

/** Forwards requests with faults until {@link calm} is called. */
export class HostileProxy implements Transport {
  readonly host = 'hostile'
  readonly counts = new Map<Fault, number>()
  readonly #inner: Transport
  readonly #random: Random
  readonly #early: readonly Fault[]
  readonly #late: readonly Fault[]
  // Bodies with a reader, and connections without one.
  readonly #open = new Set<WatchedBody>()
  #abandoned: TransportBody[] = []
  #isCalm = false

  /** `spared` are the faults that do not occur. */
  constructor(inner: Transport, random: Random, spared: readonly Fault[] = []) {
    this.#inner = inner
    this.#random = random
    this.#early = early.filter((fault) => !spared.includes(fault))
    this.#late = late.filter((fault) => !spared.includes(fault))
  }

  /** Stops injecting faults and closes the connections that already have one. */
  calm(): void {
    this.#isCalm = true
    for (const body of this.#open) body.cut()
    this.#abandon(0)
  }

  /** The number of open watches. */
  get open(): number {
    return this.#open.size
  }

  async send(request: TransportRequest): Promise<TransportResponse> {
    if (this.#isCalm) return this.#inner.send(request)
    if (this.#random.next() < 0.4) {
      const fault = this.#pick(this.#early)
      if (fault !== 'duplicate') return this.#answer(fault, request)
      // The proxy sends the request a second time and abandons that connection for a while.
      this.#abandoned.push((await this.#inner.send({ ...request, signal: undefined })).body)
      this.#abandon(3)
    }
    const response = await this.#inner.send(request)
    if (!request.path.includes('watch=true')) return { ...response, body: this.#list(response.body) }
    const body = new WatchedBody(response.body, request, {
      fault: this.#pick(this.#late),
      chunks: this.#random.int(30),
      onEnd: () => this.#open.delete(body),
      host: this.host,
    })
    this.#open.add(body)
    return { ...response, body }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#inner[Symbol.asyncDispose]()
  }

  #pick(among: readonly Fault[]): Fault {
    const fault = this.#random.pick(among)
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1)
    return fault
  }

  #abandon(most: number): void {
    while (this.#abandoned.length > most) this.#abandoned.shift()?.discard()
  }

  #answer(fault: Fault, { signal }: TransportRequest): Promise<TransportResponse> | TransportResponse {
    switch (fault) {
      case 'answer 410':
        return refusal(410, 'Expired', 'too old resource version: 1 (2)')
      case 'answer 429':
        return refusal(429, 'TooManyRequests', 'too many requests', { 'retry-after': ['1'] })
      case 'answer 500':
        return refusal(500, 'InternalError', 'the proxy is unwell')
      case 'never answer':
        return new Promise((_, reject) => onAbort(signal, () => reject(signal?.reason as Error)))
      default:
        throw new ConnectionError('connect ECONNREFUSED', { host: this.host })
    }
  }

  #list(body: TransportBody): TransportBody {
    if (this.#random.next() > 0.1) return body
    this.counts.set('truncate', (this.counts.get('truncate') ?? 0) + 1)
    const part = async (): Promise<Uint8Array> => {
      const bytes = await body.bytes()
      return bytes.subarray(0, this.#random.int(bytes.length))
    }
    return { ...body, bytes: part, discard: () => body.discard() }
  }
}

interface WatchPlan {
  readonly fault: Fault
  /** The number of chunks before the fault occurs. */
  readonly chunks: number
  readonly onEnd: () => void
  readonly host: string
}

/** The body of a watch with a fault. */
class WatchedBody implements TransportBody {
  readonly #inner: TransportBody
  readonly #plan: WatchPlan
  #wake: () => void = () => undefined

  constructor(inner: TransportBody, request: TransportRequest, plan: WatchPlan) {
    this.#inner = inner
    this.#plan = plan
    onAbort(request.signal, () => this.cut())
  }

  /** Ends the body, also while it stalls. */
  cut(): void {
    this.#wake()
    this.discard()
  }

  bytes(): Promise<Uint8Array> {
    return this.#inner.bytes()
  }

  discard(): void {
    this.#wake()
    this.#inner.discard()
    this.#plan.onEnd()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const { fault, chunks, host } = this.#plan
    let seen = 0
    try {
      for await (const chunk of this.#inner) {
        if (fault === 'hide bookmarks') {
          yield withoutBookmarks(chunk)
          continue
        }
        if (seen++ < chunks) {
          yield chunk
          continue
        }
        if (fault === 'cut') return
        if (fault === 'reset') throw new ConnectionError('read ECONNRESET', { host })
        if (fault === 'truncate') {
          yield chunk.subarray(0, chunk.length >> 1)
          return
        }
        if (fault === 'expire') {
          const object = statusOf(410, 'Expired', 'The resourceVersion for the provided watch is too old.')
          yield Buffer.from(`${JSON.stringify({ type: 'ERROR', object })}\n`)
          return
        }
        await new Promise<void>((resolve) => (this.#wake = resolve))
        return
      }
    } finally {
      this.discard()
    }
  }
}

/** Removes bookmark events. The server writes whole lines. */
function withoutBookmarks(chunk: Uint8Array): Uint8Array {
  const text = Buffer.from(chunk).toString()
  if (!text.includes('"BOOKMARK"')) return chunk
  return Buffer.from(
    text
      .split('\n')
      .filter((line) => !line.startsWith('{"type":"BOOKMARK"'))
      .join('\n'),
  )
}

function statusOf(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code, reason, message }
}

function refusal(
  status: number,
  reason: string,
  message: string,
  headers: TransportResponse['headers'] = {},
): TransportResponse {
  const bytes = Buffer.from(JSON.stringify(statusOf(status, reason, message)))
  const body: TransportBody = {
    bytes: async () => bytes,
    discard: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes
    },
  }
  return { status, headers: { 'content-type': ['application/json'], ...headers }, body }
}
