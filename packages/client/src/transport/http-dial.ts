import { request as requestProxy } from 'node:http'
import { request as requestTlsProxy } from 'node:https'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { checkServerIdentity, connect as connectTls, type TLSSocket } from 'node:tls'
import { type Clock, onAbort } from '@kubewright/base'

/** How the server has to prove who it is, and how the client does. PEM everywhere. */
export interface TlsMaterial {
  /** The authorities that are trusted. @default those that Node trusts */
  readonly ca?: string | undefined
  /** The client's own certificate and its key. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** The name that the server's certificate must have. @default the host of the server */
  readonly serverName?: string | undefined
  /** Whether any certificate of the server will do. @default false */
  readonly insecure?: boolean | undefined
}

/** Where to connect to, and how. */
export interface DialOptions {
  readonly server: URL
  readonly tls: TlsMaterial
  /** `http:` or `https:`, with credentials if it wants any. */
  readonly proxy?: URL | undefined
  readonly clock: Clock
  /** The protocols to offer, best first. */
  readonly protocols: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/** As client-go: the TCP connection may take this long, and the TLS handshake that long. */
const dialTimeout = 30_000
const handshakeTimeout = 10_000
const keepAlive = 30_000

/** Opens a connection to the server, through the proxy if there is one, and secures it if the server wants that. */
export async function dial(options: DialOptions): Promise<Socket | TLSSocket> {
  const { server, proxy, signal } = options
  const socket = await within(options, dialTimeout, 'dial', (give) =>
    proxy ? tunnel(options, proxy) : open(server, give),
  )
  if (server.protocol !== 'https:') return socket
  try {
    return await within(options, handshakeTimeout, 'TLS handshake', () => secure(socket, options))
  } catch (error) {
    socket.destroy()
    signal?.throwIfAborted()
    throw error
  }
}

type Started = (socket: { destroy(): void }) => void

/** Runs a step with a deadline; what it has begun by then is torn down. */
function within<T>(
  { clock, signal }: DialOptions,
  limit: number,
  what: string,
  step: (begun: Started) => Promise<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let started: { destroy(): void } | undefined
    const leave = (error: unknown): void => {
      started?.destroy()
      reject(error as Error)
    }
    const timer = clock.setTimer(limit, () => leave(timeoutError(what)), what)
    const stopListening = onAbort(signal, () => leave(signal?.reason))
    step((socket) => (started = socket))
      .then(resolve, reject)
      .finally(() => {
        timer.cancel()
        stopListening()
      })
  })
}

function timeoutError(what: string): Error {
  return Object.assign(new Error(`${what} timed out`), { code: 'ETIMEDOUT' })
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80))
}

function open(url: URL, begun: Started): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectTcp({ host: hostOf(url), port: portOf(url), noDelay: true })
    begun(socket)
    socket.setKeepAlive(true, keepAlive)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/** A connection through an HTTP proxy: CONNECT, and the socket is ours. */
function tunnel({ server, signal }: DialOptions, proxy: URL): Promise<Socket> {
  const target = `${server.hostname}:${portOf(server)}`
  const credentials = proxy.username === '' ? undefined : `${decode(proxy.username)}:${decode(proxy.password)}`
  return new Promise((resolve, reject) => {
    const send = proxy.protocol === 'https:' ? requestTlsProxy : requestProxy
    const request = send({
      method: 'CONNECT',
      host: hostOf(proxy),
      port: portOf(proxy),
      path: target,
      agent: false,
      headers: {
        host: target,
        ...(credentials === undefined
          ? {}
          : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
      },
      ...(signal ? { signal } : {}),
    })
    request.once('connect', (response, socket) => {
      if (response.statusCode === 200) return resolve(socket as Socket)
      socket.destroy()
      reject(
        new Error(
          `proxy ${proxy.host} refused to connect to ${target}: ${response.statusCode} ${response.statusMessage}`,
        ),
      )
    })
    request.once('response', (response) => {
      response.destroy()
      reject(new Error(`proxy ${proxy.host} does not do CONNECT: ${response.statusCode} ${response.statusMessage}`))
    })
    request.once('error', (error) => {
      reject(Object.assign(new Error(`proxy ${proxy.host}: ${error.message}`, { cause: error }), { code: 'EPROXY' }))
    })
    request.end()
  })
}

const decode = (text: string): string => decodeURIComponent(text)

function secure(socket: Socket, { server, tls, protocols }: DialOptions): Promise<TLSSocket> {
  const name = tls.serverName || hostOf(server)
  return new Promise((resolve, reject) => {
    const secured = connectTls({
      socket,
      ALPNProtocols: [...protocols],
      rejectUnauthorized: !tls.insecure,
      // An address is no name that TLS could ask for.
      ...(isIP(name) ? {} : { servername: name }),
      checkServerIdentity: (_, certificate) => checkServerIdentity(name, certificate),
      ...(tls.ca === undefined ? {} : { ca: tls.ca }),
      ...(tls.cert === undefined || tls.key === undefined ? {} : { cert: tls.cert, key: tls.key }),
    })
    secured.once('error', reject)
    secured.once('secureConnect', () => {
      secured.off('error', reject)
      resolve(secured)
    })
    secured.once('close', () =>
      reject(Object.assign(new Error('closed within the TLS handshake'), { code: 'ECONNRESET' })),
    )
  })
}
