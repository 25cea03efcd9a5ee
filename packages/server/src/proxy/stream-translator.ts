import type { Duplex } from 'node:stream'
import { type ApiResponse, newInternalError } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { RequestContext } from '../request/request-context.ts'
import { type Backend, urlOf } from './backend.ts'
import { SpdyConnection, type SpdyStream } from './spdy-connection.ts'
import { acceptHeaders, loadFraming, offeredProtocols, WebSocketServer } from './web-socket-server.ts'

const protocol = 'v5.channel.k8s.io'
const kubeletProtocol = 'v4.channel.k8s.io'
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const
/** A message of this channel closes the channel that its second byte names. */
const closeSignal = 255
const maxErrorBytes = 64 * 1024

/** Whether the client offers the WebSocket protocol in which it can close stdin. Kubelets do not speak it. */
export function wantsTranslation(context: RequestContext): boolean {
  return offeredProtocols(context)?.includes(protocol) ?? false
}

/**
 * Serves exec or attach over a WebSocket and forwards its channels as SPDY streams to a kubelet
 * (apiserver/pkg/util/proxy/streamtranslator.go). Accepts the WebSocket first: the client gets failures as a Status on the error channel.
 */
export async function translateStreams(
  outgoing: Outgoing,
  context: RequestContext,
  backend: Backend,
  target: string,
): Promise<ApiResponse> {
  const { query } = context.request
  const flag = (name: string): boolean => !['0', 'false', ''].includes((query.get(name) ?? '').toLowerCase())
  const tty = flag('tty')
  const wanted = { stdin: flag('stdin'), stdout: flag('stdout'), stderr: flag('stderr') && !tty, tty }
  const framing = await loadFraming()
  return {
    status: 101,
    headers: acceptHeaders(context, protocol),
    upgraded: (connection) => {
      const stop = new AbortController()
      let translation: Translation | undefined
      const client = new WebSocketServer(
        framing,
        connection,
        (message) => translation?.receive(message),
        () => {
          stop.abort(new Error('the client has disconnected'))
          translation?.close()
        },
      )
      // Announces to the client that the connection is established.
      client.send(Buffer.from([wanted.stdout ? channels.stdout : wanted.stderr ? channels.stderr : channels.error]))
      // Nothing is received before the kubelet can take it.
      client.pause()
      dial(outgoing, backend, target, stop.signal).then(
        (kubelet) => {
          translation = new Translation(client, kubelet, wanted)
          client.resume()
        },
        (error: unknown) => finish(client, newInternalError(error as Error).status),
      )
    },
  }
}

async function dial(outgoing: Outgoing, backend: Backend, target: string, signal: AbortSignal): Promise<Duplex> {
  const response = await outgoing({
    method: 'POST',
    url: urlOf(backend, '/'),
    target,
    headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': kubeletProtocol },
    upgrade: true,
    tls: backend.tls,
    signal,
  })
  if (response.upgraded) return response.upgraded
  let text = ''
  for await (const chunk of response.body) if (text.length < maxErrorBytes) text += Buffer.from(chunk).toString()
  throw new CaughtError(`unable to upgrade connection: ${text.trim()}`)
}

/** The fields of a Status that the error channel carries. Its reasons are not those of API requests only. */
interface StreamStatus {
  readonly kind?: string | undefined
  readonly apiVersion?: string | undefined
  readonly status?: string | undefined
  readonly reason?: string | undefined
  readonly message?: string | undefined
  readonly metadata?: object | undefined
  readonly details?:
    | {
        readonly causes?:
          | readonly { readonly reason?: string | undefined; readonly message?: string | undefined }[]
          | undefined
      }
    | undefined
}

function finish(client: WebSocketServer, { kind: _k, apiVersion: _v, ...status }: StreamStatus): void {
  client.send(Buffer.concat([Buffer.from([channels.error]), Buffer.from(JSON.stringify(status))]))
  client.close()
}

interface Wanted {
  readonly stdin: boolean
  readonly stdout: boolean
  readonly stderr: boolean
  readonly tty: boolean
}

/** The streams between one client and one kubelet. */
class Translation {
  readonly #client: WebSocketServer
  readonly #kubelet: SpdyConnection
  readonly #inputs = new Map<number, SpdyStream>()
  /** The streams of the kubelet that have not ended. */
  #open = 0
  #error: Buffer = Buffer.alloc(0)
  #finished = false

  constructor(client: WebSocketServer, connection: Duplex, wanted: Wanted) {
    this.#client = client
    this.#kubelet = new SpdyConnection(connection, () => this.#finish())
    this.#openStream('error', (bytes) => {
      if (this.#error.length < maxErrorBytes) this.#error = Buffer.concat([this.#error, bytes])
    })
    const ignore = (): void => undefined
    if (wanted.stdin) this.#inputs.set(channels.stdin, this.#openStream('stdin', ignore, false))
    if (wanted.stdout) this.#openStream('stdout', (bytes) => this.#forward(channels.stdout, bytes))
    if (wanted.stderr) this.#openStream('stderr', (bytes) => this.#forward(channels.stderr, bytes))
    if (wanted.tty) this.#inputs.set(channels.resize, this.#openStream('resize', ignore, false))
  }

  /** Takes a message of the client. */
  receive(message: Buffer): void {
    const [channel, closed] = message
    if (channel === closeSignal) {
      if (closed !== undefined) this.#inputs.get(closed)?.end()
      return
    }
    const input = channel === undefined ? undefined : this.#inputs.get(channel)
    if (!input || message.length === 1 || input.write(message.subarray(1))) return
    this.#client.pause()
    this.#kubelet.drained(() => this.#client.resume())
  }

  close(): void {
    this.#finished = true
    this.#kubelet.close()
  }

  #openStream(streamtype: string, data: (bytes: Buffer) => void, awaited = true): SpdyStream {
    if (awaited) this.#open++
    return this.#kubelet.open(
      { streamtype },
      {
        data,
        end: () => {
          if (awaited && --this.#open === 0) this.#finish()
        },
      },
    )
  }

  #forward(channel: number, bytes: Buffer): void {
    if (this.#client.send(Buffer.concat([Buffer.from([channel]), bytes]))) return
    this.#kubelet.pause()
    this.#client.drained(() => this.#kubelet.resume())
  }

  /** Reports the result, after the last byte of output. */
  #finish(): void {
    if (this.#finished) return
    this.#finished = true
    finish(this.#client, resultOf(this.#error.toString()))
    this.#kubelet.close()
  }
}

/** The Status for the client from that of the kubelet, as client-go decodes it and kube-apiserver encodes it again. */
function resultOf(text: string): StreamStatus {
  if (text === '') return { metadata: {}, status: 'Success' }
  let status: StreamStatus
  try {
    status = JSON.parse(text) as StreamStatus
  } catch {
    return newInternalError(new Error(`error stream protocol error: unknown error: ${text}`)).status
  }
  if (status.status === 'Success') return { metadata: {}, status: 'Success' }
  if (status.reason !== 'NonZeroExitCode') return newInternalError(new Error(status.message ?? '')).status
  const code = status.details?.causes?.find(({ reason }) => reason === 'ExitCode')?.message ?? ''
  return {
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: command terminated with exit code ${code}`,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: code }] },
  }
}
