import type { ApiRequest, ApiResponse } from '@kubewright/api'
import { type Clock, seededRandom, VirtualClock } from '@kubewright/base'
import { MemoryStore, type Store } from '@kubewright/storage'
import { type ApiServer, createApiServer, type ServerExtensions, type ServerParts } from '../api-server.ts'
import { builtinResources } from '../builtins/builtin-resources.ts'
import type { BuiltinDefinition } from '../builtins/define-builtin.ts'
import { defaultServedRelease } from '../codec/served-release.ts'

/** A response with its parsed body. */
export interface PlainAnswer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
  readonly text: string
  readonly headers: ApiResponse['headers']
}

/** Options of {@link PlainServer.send}. */
export interface PlainRequest {
  /** Strings and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Makes the request look as if it came over a connection. */
  readonly onSent?: ApiRequest['onSent']
}

/** The events of a watch. */
export interface PlainWatch {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
  readonly events: { type: string; object: any }[]
  /** Resolves when the server ends the stream. */
  readonly done: Promise<void>
  stop(): void
}

/**
 * An in-memory server with the built-in kinds, a virtual clock, and neither access control nor admission. Requests are function
 * calls.
 */
export class PlainServer implements AsyncDisposable {
  readonly server: ApiServer
  readonly clock: VirtualClock

  private constructor(server: ApiServer, clock: VirtualClock) {
    this.server = server
    this.clock = clock
  }

  static async start(
    definitions: readonly BuiltinDefinition[] = [],
    setup: (parts: ServerParts) => Promise<ServerExtensions | undefined> = async () => undefined,
    store: Store = new MemoryStore(),
    seed = 1,
  ): Promise<PlainServer> {
    const clock = new VirtualClock({ start: Date.UTC(2026, 0, 2, 3, 4, 5) })
    const server = await createApiServer({
      store,
      clock: clock as Clock,
      random: seededRandom(seed),
      authenticators: [async () => ({ name: 'root', groups: ['system:masters'] })],
      authorizer: { authorize: async () => ({ allowed: true, reason: '' }) },
      setup: async (parts) => {
        for (const resource of builtinResources(defaultServedRelease, definitions)) parts.resources.set(resource)
        return setup(parts)
      },
    })
    return new PlainServer(server, clock)
  }

  /** Sends `METHOD /path?query`. */
  async send(line: string, request: PlainRequest = {}): Promise<PlainAnswer> {
    const response = await this.#call(line, request, new AbortController().signal)
    const text = (await bytesOf(response, line)).toString()
    const json = String(response.headers['content-type']).startsWith('application/json')
    return { status: response.status, headers: response.headers, text, body: json && text ? JSON.parse(text) : text }
  }

  /** Opens a watch and collects its events. */
  async watch(path: string): Promise<PlainWatch> {
    const stopping = new AbortController()
    const response = await this.#call(`GET ${path}`, {}, stopping.signal)
    if (typeof response.body !== 'function') throw new Error(Buffer.from(response.body ?? []).toString())
    const events: PlainWatch['events'] = []
    const done = response.body({
      write: (chunk) => {
        for (const text of Buffer.from(chunk).toString().split('\n')) if (text !== '') events.push(JSON.parse(text))
        return true
      },
      drained: async () => undefined,
    })
    return { events, done, stop: () => stopping.abort() }
  }

  #call(line: string, { body, headers = {}, onSent }: PlainRequest, signal: AbortSignal): Promise<ApiResponse> {
    const space = line.indexOf(' ')
    const [path = '', query = ''] = line.slice(space + 1).split('?', 2)
    const bytes =
      body === undefined
        ? Buffer.alloc(0)
        : Buffer.from(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body))
    return this.server.handler({
      method: line.slice(0, space),
      path,
      query: new URLSearchParams(query),
      headers: { 'user-agent': 'test', ...headers },
      body: async () => bytes,
      signal,
      ...(onSent ? { onSent } : {}),
      peer: { address: '127.0.0.1' },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]()
  }
}

/** The body of a response. Large lists are streamed; a watch is refused, because it does not end. */
async function bytesOf({ body, headers }: ApiResponse, line: string): Promise<Buffer> {
  if (typeof body !== 'function') return Buffer.from(body ?? [])
  if (headers['transfer-encoding'] !== undefined) throw new Error(`${line} streams`)
  const chunks: Uint8Array[] = []
  const write = (chunk: Uint8Array): boolean => {
    chunks.push(chunk)
    return true
  }
  await body({ write, drained: async () => undefined })
  return Buffer.concat(chunks)
}
