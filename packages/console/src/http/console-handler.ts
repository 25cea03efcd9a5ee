import type { Random } from '@kubewright/base'
import { type HttpHandler, type HttpRequest, type HttpResponse, isLoopback } from '@kubewright/runtime'
import { accessTo, act, schemaOf, sourceOf } from '../cluster/act.ts'
import { PageStream, type StreamContext } from '../feeds/page-stream.ts'
import { compareMoments } from '../recording/compare-moments.ts'
import { encodeRecording } from '../recording/recording-file.ts'
import type { PageResponse } from '../wire/messages.ts'
import { isLeverAction } from './lever-request.ts'
import type { PageFiles } from './page-files.ts'
import { pageHeaders } from './page-headers.ts'
import { parsePageRequest } from './page-request.ts'
import type { PageSession } from './page-session.ts'

/** Options of {@link ConsoleHandler}. */
export interface ConsoleHandlerOptions {
  readonly session: PageSession
  readonly files: PageFiles
  /** The path below which everything is served, such as `/a1b2c3/`. */
  readonly base: string
  readonly cluster: string
  readonly readOnly: boolean
  readonly context: StreamContext
  /** Called before a page gets its stream. */
  readonly onPage: () => void
  readonly random: Random
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}
const maxBody = 4 * 1024 * 1024
const maxStreams = 32
const noLevers = { pods: false, requests: false, controllers: false, time: false }
const noLeversText = 'This console has no levers: on a real cluster, start it with --levers'
const local = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/

/**
 * Answers the requests of pages. The files of the page are public; everything else needs the cookie of a session.
 * Requests that change something must also come from the page itself, which the Origin header proves.
 */
export class ConsoleHandler {
  readonly #options: ConsoleHandlerOptions
  readonly #streams = new Map<string, PageStream>()

  constructor(options: ConsoleHandlerOptions) {
    this.#options = options
  }

  readonly handle: HttpHandler = async (request) => {
    const { base } = this.#options
    const { method, path, headers } = request
    // A name that resolves to this machine must not make a foreign page the same origin (DNS rebinding).
    if (!isLoopback(request) || !local.test(headers['host'] ?? ''))
      return refusal(403, 'The console answers only requests from this machine')
    if (!path.startsWith(base)) return refusal(404, 'There is nothing here: use the complete link of the console')
    const name = path.slice(base.length)
    if (method === 'GET' || method === 'HEAD') return this.#read(request, name)
    if (method !== 'POST') return refusal(405, 'The console has no such method')
    if (!isSameOrigin(request)) return refusal(403, 'The request comes from another origin')
    if (!(headers['content-type'] ?? '').startsWith('application/json'))
      return refusal(415, 'The console accepts application/json only')
    if (name === 'session') return this.#open(request)
    if (!this.#options.session.accepts(headers['cookie'])) return refusal(401, 'The session is unknown')
    return name === 'request' ? this.#perform(request) : refusal(404, 'There is no such request')
  };

  /** Ends all streams, so that the server can close. */
  [Symbol.dispose](): void {
    for (const stream of this.#streams.values()) stream[Symbol.dispose]()
    this.#streams.clear()
  }

  async #read(request: HttpRequest, name: string): Promise<HttpResponse> {
    const { files, session } = this.#options
    if (name === 'stream') {
      if (!session.accepts(request.headers['cookie'])) return refusal(401, 'The session is unknown')
      return isSameSite(request) ? this.#stream(request) : refusal(403, 'The request comes from another origin')
    }
    if (name === 'recording') {
      if (!session.accepts(request.headers['cookie'])) return refusal(401, 'The session is unknown')
      return isSameSite(request) ? this.#export(request) : refusal(403, 'The request comes from another origin')
    }
    const file = name === '' ? 'index.html' : name
    const body = Object.hasOwn(files, file) ? files[file] : undefined
    if (body === undefined) return refusal(404, 'There is no such file')
    const type = types[file.split('.').at(-1) ?? ''] ?? 'text/plain; charset=utf-8'
    return { status: 200, headers: { ...pageHeaders, 'content-type': type }, body }
  }

  /** The recording as a file to download. */
  async #export({ signal }: HttpRequest): Promise<HttpResponse> {
    const { context, cluster } = this.#options
    const { recording, readOperators, clock } = context
    const operators = await readOperators(signal)
    const name = `kubewright-${new Date(clock.now()).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}.recording`
    return {
      status: 200,
      headers: {
        ...pageHeaders,
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${name}"`,
      },
      body: '',
      chunks: encodeRecording({ recording, cluster, operators }),
    }
  }

  async #open(request: HttpRequest): Promise<HttpResponse> {
    const { session, base } = this.#options
    // A page that was reloaded has a cookie and no token.
    if (session.accepts(request.headers['cookie'])) return json({})
    const body = await bodyOf(request)
    const token = (body as { readonly token?: unknown } | undefined)?.token
    const cookie = typeof token === 'string' ? session.exchange(token, base) : undefined
    if (cookie === undefined) return refusal(401, 'The link is wrong or was used before')
    return { ...json({}), headers: { ...json({}).headers, 'set-cookie': cookie } }
  }

  #stream({ signal }: HttpRequest): HttpResponse {
    const { context, cluster, readOnly, random, onPage } = this.#options
    const { rest } = context
    if (this.#streams.size >= maxStreams) return refusal(429, `More than ${maxStreams} pages are open: close some`)
    const id = Buffer.from(random.bytes(12)).toString('hex')
    onPage()
    const server = rest?.transport.host ?? ''
    const isRecording = rest === undefined
    const levers = readOnly ? noLevers : (context.levers?.kinds ?? noLevers)
    const hello = { type: 'hello', stream: id, server, cluster, readOnly, isRecording, levers } as const
    const stream = new PageStream(hello, context)
    this.#streams.set(id, stream)
    const streams = this.#streams
    async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
      try {
        yield* stream.chunks(signal)
      } finally {
        streams.delete(id)
      }
    }
    return {
      status: 200,
      headers: { ...pageHeaders, 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
      body: '',
      chunks: chunks(),
    }
  }

  async #perform(request: HttpRequest): Promise<HttpResponse> {
    const parsed = parsePageRequest(await bodyOf(request))
    if (parsed === undefined) return refusal(400, 'The request is malformed: reload the page')
    const { context, readOnly } = this.#options
    const { recording, rest, clock } = context
    if (parsed.type === 'follow' || parsed.type === 'unfollow') {
      const stream = this.#streams.get(parsed.stream)
      if (stream === undefined) return refusal(410, 'The stream has ended')
      try {
        if (parsed.type === 'follow') stream.follow(parsed.id, parsed.topic)
        else stream.unfollow(parsed.id)
      } catch (error) {
        return json({ error: error instanceof Error ? error.message : String(error) })
      }
      return json({})
    }
    if (parsed.type === 'compare')
      return json({ diff: compareMoments(recording, parsed.object, parsed.from, parsed.to) })
    if (rest === undefined) return json({ error: 'A recording cannot be changed: open the console on a cluster' })
    if (parsed.type === 'schema') {
      const { group, plural } = parsed.resource
      const kind = context.live?.kinds.kinds.find((known) => known.group === group && known.plural === plural)
      return json(await schemaOf(kind, { rest, clock }))
    }
    if (parsed.type === 'access') return json(await accessTo(parsed.object, { rest, clock }))
    if (parsed.type === 'source') return json(await sourceOf(parsed.object, { rest, clock }))
    if (readOnly) return json({ error: 'This console is read-only: start it without --read-only' })
    if (isLeverAction(parsed)) {
      const { levers } = context
      return json(levers === undefined ? { error: noLeversText } : await levers.perform(parsed))
    }
    const { terminals, forwards } = context
    return json(await act(parsed, { rest, clock, terminals, forwards }))
  }
}

async function bodyOf(request: HttpRequest): Promise<unknown> {
  try {
    return JSON.parse((await request.text?.(maxBody)) ?? '')
  } catch {
    return undefined
  }
}

/** Browsers send Origin with every POST. Other programs may leave it out; they need the cookie anyway. */
function isSameOrigin({ headers }: HttpRequest): boolean {
  return headers['origin'] === `http://${headers['host']}`
}

/** Browsers state the relation of the page that sends a request; old ones do not. */
function isSameSite({ headers }: HttpRequest): boolean {
  const site = headers['sec-fetch-site']
  return site === undefined || site === 'same-origin'
}

function json(value: PageResponse): HttpResponse {
  return {
    status: 200,
    headers: { ...pageHeaders, 'content-type': 'application/json' },
    body: JSON.stringify(value),
  }
}

function refusal(status: number, text: string): HttpResponse {
  return { status, headers: { ...pageHeaders, 'content-type': 'text/plain; charset=utf-8' }, body: `${text}\n` }
}
