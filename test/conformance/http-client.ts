import http from 'node:http'
import https from 'node:https'
import { isJsonObject } from '@kubewright/base'
import type { RequestSpec } from './case-format.ts'
import type { Target } from './target.ts'

/** The compared headers of a response. */
export interface CountedHeaders {
  'content-type'?: string
  warning?: string[]
}

/** A response. */
export interface Answer {
  readonly status: number
  readonly headers: CountedHeaders
  readonly retryAfter: number
  readonly body: unknown
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))
const day = 24 * 60 * 60 * 1000

/** Sends the requests of cases to a server, or in turn to several servers on the same store. */
export class HttpClient implements Disposable {
  readonly #target: Target
  readonly #tls: https.AgentOptions
  /** By identity: the administrator, no client certificate, and each user with an issued certificate. */
  readonly #agents = new Map<string, http.Agent>()
  readonly #servers: readonly URL[]
  #turn = 0

  constructor(target: Target) {
    this.#target = target
    this.#servers = [target.server, ...(target.peers ?? [])]
    this.#tls = {
      keepAlive: true,
      maxSockets: 256,
      rejectUnauthorized: target.ca !== undefined,
      ...(target.ca === undefined ? {} : { ca: target.ca }),
    }
  }

  [Symbol.dispose](): void {
    for (const agent of this.#agents.values()) agent.destroy()
  }

  /** Sends a request to every server of the store, in turn. */
  async requestAll(spec: RequestSpec): Promise<Answer[]> {
    const answers: Answer[] = []
    for (const server of this.#servers) answers.push(await this.request(spec, server))
    return answers
  }

  /**
   * Sends a request to the given server, or to the next one. Retries while the server responds with 429, and when a reused connection was
   * closed.
   */
  async request(spec: RequestSpec, server?: URL): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      let answer: Answer
      try {
        answer = await this.#once(spec, server)
      } catch (error) {
        if (attempt >= 3 || !/ECONNRESET|socket hang up|EPIPE/.test(String(error))) throw error
        await pause(50)
        continue
      }
      if (answer.status !== 429 || spec.noRetry || attempt >= 30) return answer
      await pause(Math.min(2000, 1000 * (answer.retryAfter || 1)))
    }
  }

  /** Sends a request and resolves when the response begins. */
  open(spec: RequestSpec, to?: URL): Promise<http.IncomingMessage> {
    const { headers, agent, payload } = this.#prepare(spec)
    const server = to ?? this.#servers[this.#turn++ % this.#servers.length]!
    const { request } = server.protocol === 'https:' ? https : http
    return new Promise((resolve, reject) => {
      const path = server.pathname.replace(/\/$/, '') + pathOf(spec)
      const { hostname, port } = server
      const sent = request({ hostname, port, method: spec.method ?? 'GET', path, headers, agent }, resolve)
      const limit = spec.timeoutMs ?? 45_000
      sent.setTimeout(limit + 1000, () => sent.destroy(new Error(`no response within ${limit} ms`)))
      sent.on('error', reject)
      sent.end(payload)
    })
  }

  async #once(spec: RequestSpec, server: URL | undefined): Promise<Answer> {
    const response = await this.open(spec, server)
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk as Buffer)
    return {
      status: response.statusCode ?? 0,
      headers: countedHeaders(response),
      retryAfter: Number(response.headers['retry-after'] ?? 0),
      body: decodeBody(Buffer.concat(chunks), response.headers['content-type'] ?? ''),
    }
  }

  #prepare(spec: RequestSpec): { headers: http.OutgoingHttpHeaders; agent: http.Agent; payload: Buffer | undefined } {
    const payload = payloadOf(spec.body)
    const headers = new Map<string, string | readonly string[]>([
      ['user-agent', 'conformance/1.0'],
      ['accept', 'application/json'],
    ])
    if (payload) headers.set('content-type', 'application/json')
    const { agent, authorization } = this.#credentials(spec.auth)
    if (authorization !== undefined) headers.set('authorization', authorization)
    if (spec.as) {
      headers.set('impersonate-user', spec.as.user)
      if (spec.as.groups) headers.set('impersonate-group', spec.as.groups)
      if (spec.as.uid) headers.set('impersonate-uid', spec.as.uid)
      for (const [name, value] of Object.entries(spec.as.extra ?? {}))
        headers.set(`impersonate-extra-${encodeURIComponent(name)}`, value)
    }
    for (const [name, value] of Object.entries(spec.headers ?? {})) {
      if (value === null) headers.delete(name.toLowerCase())
      else headers.set(name.toLowerCase(), value)
    }
    if (payload) headers.set('content-length', String(payload.length))
    return { headers: Object.fromEntries(headers) as http.OutgoingHttpHeaders, agent, payload }
  }

  #credentials(auth: RequestSpec['auth']): { agent: http.Agent; authorization?: string } {
    const { token, client } = this.#target
    if (auth === undefined) {
      const agent = this.#agent('admin', () => (client ? { ...client } : {}))
      return token === undefined ? { agent } : { agent, authorization: `Bearer ${token}` }
    }
    const anonymous = this.#agent('anonymous', () => ({}))
    if (auth === 'none') return { agent: anonymous }
    if ('token' in auth) return { agent: anonymous, authorization: `Bearer ${auth.token}` }
    if ('header' in auth) return { agent: anonymous, authorization: auth.header }
    const { cn, o = [] } = auth.cert
    return { agent: this.#agent(JSON.stringify([cn, o]), () => this.#issue(cn, o)) }
  }

  #agent(id: string, options: () => https.AgentOptions): http.Agent {
    let agent = this.#agents.get(id)
    if (!agent) {
      const { Agent } = this.#target.server.protocol === 'https:' ? https : http
      this.#agents.set(id, (agent = new Agent({ ...this.#tls, ...options() })))
    }
    return agent
  }

  #issue(commonName: string, organizations: readonly string[]): https.AgentOptions {
    const { clientCa } = this.#target
    if (!clientCa) throw new Error('The case requires a client CA that the server trusts')
    return { ...clientCa.issueClient({ commonName, organizations, now: Date.now(), validMillis: day }) }
  }
}

/** The compared headers of a response. */
export function countedHeaders(response: http.IncomingMessage): CountedHeaders {
  const counted: CountedHeaders = {}
  const type = response.headers['content-type']
  if (type !== undefined) counted['content-type'] = type
  const raw = response.rawHeaders
  const warnings = raw.filter((_, i) => i % 2 === 1 && raw[i - 1]!.toLowerCase() === 'warning')
  if (warnings.length > 0) counted.warning = warnings
  return counted
}

/** The body in the form in which it is compared: JSON, text or a marker for binary data. */
export function decodeBody(bytes: Buffer, contentType: string): unknown {
  if (bytes.length === 0) return null
  if (bytes.subarray(0, 4).toString('latin1') === 'k8s\0') return { $binary: 'k8s\\0 (protobuf envelope)' }
  const text = bytes.toString()
  if (contentType.includes('json') || (/^[[{]/.test(text) && !contentType.includes('yaml'))) {
    try {
      return JSON.parse(text)
    } catch {
      // Invalid JSON is compared as text.
    }
  }
  if (contentType.includes('cbor')) return { $binary: 'cbor' }
  return text.includes('\ufffd') ? { $binary: 'other' } : { $text: text }
}

function payloadOf(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined
  if (typeof body === 'string') return Buffer.from(body)
  if (isJsonObject(body) && typeof body['$base64'] === 'string') return Buffer.from(body['$base64'], 'base64')
  return Buffer.from(JSON.stringify(body))
}

function pathOf({ path, query }: RequestSpec): string {
  const pairs = Object.entries(query ?? {}).flatMap(([name, value]) =>
    [value].flat().map((item) => `${encodeURIComponent(name)}=${encodeURIComponent(String(item))}`),
  )
  return pairs.length === 0 ? path : `${path}${path.includes('?') ? '&' : '?'}${pairs.join('&')}`
}
