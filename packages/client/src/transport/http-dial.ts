import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { CaughtError, type Clock, onAbort } from '@kubewright/base'
import { verifyHostname } from '@kubewright/base/pki'
import { crypto, http, https, net, tls } from './node-modules.ts'

/** How client and server authenticate each other. All values are PEM. */
export interface TlsMaterial {
  /** The trusted CAs. @default those of Node */
  readonly ca?: string | undefined
  /** The client certificate and its key. */
  readonly cert?: string | undefined
  readonly key?: string | undefined
  /** The name that the server's certificate must have. @default the host of the server */
  readonly serverName?: string | undefined
  /** Accepts any server certificate. @default false */
  readonly insecure?: boolean | undefined
}

/** The target of a connection and how to reach it. */
export interface DialOptions {
  readonly server: URL
  readonly tls: TlsMaterial
  /** `http:` or `https:`, with credentials if required. */
  readonly proxy?: URL | undefined
  readonly clock: Clock
  /** The application protocols to offer, preferred first. */
  readonly protocols: readonly string[]
  readonly signal?: AbortSignal | undefined
}

/** Timeouts of client-go, in milliseconds, for the TCP connection and for the TLS handshake. */
const dialTimeout = 30_000
const handshakeTimeout = 10_000
const keepAlive = 30_000

/** Opens a connection to the server, through the proxy if there is one, with TLS if the server uses https. */
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

/** Runs a step with a deadline. When it expires, the socket that the step has created is destroyed. */
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
    const socket = net().connect({ host: hostOf(url), port: portOf(url), noDelay: true })
    begun(socket)
    socket.setKeepAlive(true, keepAlive)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

/** Opens a connection through an HTTP proxy with CONNECT. */
function tunnel({ server, signal }: DialOptions, proxy: URL): Promise<Socket> {
  const target = `${server.hostname}:${portOf(server)}`
  const credentials = proxy.username === '' ? undefined : `${decode(proxy.username)}:${decode(proxy.password)}`
  return new Promise((resolve, reject) => {
    const { request: send } = proxy.protocol === 'https:' ? https() : http()
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
        new CaughtError(
          `proxy ${proxy.host} refused to connect to ${target}: ${response.statusCode} ${response.statusMessage}`,
        ),
      )
    })
    request.once('response', (response) => {
      response.destroy()
      reject(
        new CaughtError(
          `proxy ${proxy.host} does not support CONNECT: ${response.statusCode} ${response.statusMessage}`,
        ),
      )
    })
    request.once('error', (error) => {
      reject(Object.assign(new Error(`proxy ${proxy.host}: ${error.message}`, { cause: error }), { code: 'EPROXY' }))
    })
    request.end()
  })
}

/** Node's own check also accepts common names, which Go does not. */
function hostnameError(certificate: Buffer, name: string): Error | undefined {
  try {
    verifyHostname(new (crypto().X509Certificate)(certificate), name)
    return undefined
  } catch (error) {
    return Object.assign(error as Error, { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  }
}

const decode = (text: string): string => decodeURIComponent(text)

function secure(socket: Socket, { server, tls: material, protocols }: DialOptions): Promise<TLSSocket> {
  const name = material.serverName || hostOf(server)
  return new Promise((resolve, reject) => {
    const secured = tls().connect({
      socket,
      ALPNProtocols: [...protocols],
      rejectUnauthorized: !material.insecure,
      // The TLS server name must not be an IP address.
      ...(net().isIP(name) ? {} : { servername: name }),
      checkServerIdentity: (_, { raw }) => hostnameError(raw, name),
      // As in Go, every certificate of the bundle ends a chain, also one that another CA issued.
      ...(material.ca === undefined ? {} : { ca: material.ca, allowPartialTrustChain: true }),
      ...(material.cert === undefined || material.key === undefined ? {} : { cert: material.cert, key: material.key }),
    })
    secured.once('error', reject)
    secured.once('secureConnect', () => {
      secured.off('error', reject)
      resolve(secured)
    })
    secured.once('close', () =>
      reject(Object.assign(new Error('the connection was closed during the TLS handshake'), { code: 'ECONNRESET' })),
    )
  })
}
