import type { X509Certificate } from 'node:crypto'
import type { Agent, AgentOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions, TLSSocket } from 'node:tls'
import { CaughtError, type Clock, onAbort } from '@kubewright/base'
import { parseCertificates, verifyHostname } from '@kubewright/base/pki'
import { CertificateError, certificateErrorText } from './certificate-error.ts'
import { trustStores } from './trust-stores.ts'

/** What {@link verifyingAgent} trusts. */
export interface Trust {
  /** PEM of the trusted certificates. Blocks that are no certificates are skipped. @default the CAs of Node */
  readonly ca?: string | undefined
  /** The name or address that the certificate must have. */
  readonly serverName: string
  /** The time in error texts. OpenSSL reads the time of the system. */
  readonly clock: Clock
}

/** Options of a request through a {@link verifyingAgent}. */
export interface HandshakeOptions {
  /** Aborts the handshake. Node passes the signal of a request to its socket only, which does not exist during the handshake. */
  readonly handshakeSignal?: AbortSignal | undefined
}

type Created = (error: Error | null, socket?: Duplex) => void

/**
 * Returns an agent that connects to TLS servers and accepts the certificates that Go accepts. OpenSSL verifies every connection that carries a
 * request. If it refuses a certificate, the agent looks at what the server presented and lets OpenSSL try again with {@link trustStores}.
 * TLS sessions are not resumed, because a resumed session has no certificate whose name can be checked.
 */
export function verifyingAgent(trust: Trust, options: AgentOptions): Agent {
  const agent = new (process.getBuiltinModule('node:https').Agent)({ ...options, maxCachedSessions: 0 })
  const roots = trust.ca === undefined ? undefined : parseCertificates(trust.ca)
  // Replaces the method of Node that creates connections. Node accepts the socket through the callback.
  agent.createConnection = (wanted, created) => {
    connectVerified(wanted as ConnectionOptions & HandshakeOptions, trust, roots).then(
      (socket) => (created as Created)(null, socket),
      created as Created,
    )
    return undefined
  }
  return agent
}

async function connectVerified(
  options: ConnectionOptions & HandshakeOptions,
  { serverName, clock }: Trust,
  roots: readonly X509Certificate[] | undefined,
): Promise<TLSSocket> {
  const attempt = async (trusted: ConnectionOptions, expected?: X509Certificate): Promise<TLSSocket> => {
    const socket = await connect({ ...options, ...trusted, rejectUnauthorized: true })
    const [leaf] = presentedBy(socket)
    try {
      if (!leaf) throw new CaughtError('tls: received empty certificates message')
      if (expected && !leaf.raw.equals(expected.raw)) throw new CaughtError('x509: the server changed its certificate')
      verifyHostname(leaf, serverName)
      return socket
    } catch (error) {
      socket.destroy()
      throw untrusted((error as Error).message)
    }
  }
  if (!roots) return attempt({})
  const ca = roots.map(String)
  let reason: NodeJS.ErrnoException
  try {
    return await attempt({ ca, allowPartialTrustChain: true })
  } catch (error) {
    reason = error as NodeJS.ErrnoException
    if (!isRefusal(reason)) throw error
  }
  // This connection only shows what the server presents. It never carries a request.
  const look = await connect({ ...options, ca, rejectUnauthorized: false })
  const [leaf, ...presented] = presentedBy(look)
  look.destroy()
  if (!leaf) throw untrusted('tls: received empty certificates message')
  const now = clock.now()
  for (const store of trustStores(leaf, presented, roots, now)) {
    try {
      return await attempt({ ...store, ca: [...store.ca] }, leaf)
    } catch (error) {
      if (!isRefusal(error as NodeJS.ErrnoException)) throw error
    }
  }
  throw untrusted(certificateErrorText({ leaf, presented, roots, host: serverName, now, reason }))
}

/** Whether OpenSSL refused the certificate. Node names the reason; errors of the connection and of the handshake have other codes. */
function isRefusal({ code = '' }: NodeJS.ErrnoException): boolean {
  return /^(UNABLE_TO_|UNSPECIFIED$|CERT_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_|PATH_LENGTH_|ERROR_IN_CERT_)/.test(code)
}

function untrusted(why: string): CertificateError {
  return new CertificateError(`tls: failed to verify certificate: ${why}`)
}

/** Resolves after the handshake. The name is left to the caller, because Node also accepts common names. */
function connect({ handshakeSignal: signal, ...options }: ConnectionOptions & HandshakeOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = process.getBuiltinModule('node:tls').connect({ ...options, checkServerIdentity: () => undefined })
    const settle = (error: Error | null): void => {
      stopListening()
      socket.off('error', settle)
      socket.off('close', closed)
      if (!error) {
        resolve(socket)
        return
      }
      // The error event of a destroyed socket has no other listener.
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    const closed = (): void =>
      settle(Object.assign(new Error('the peer closed the connection'), { code: 'ECONNRESET' }))
    const stopListening = onAbort(signal, () => settle(signal?.reason as Error))
    socket.once('error', settle)
    socket.once('close', closed)
    socket.once('secureConnect', () => settle(null))
  })
}

/** The certificates that the server sent, in its order and its own first. Node calls the next one the issuer, which it need not be. */
function presentedBy(socket: TLSSocket): X509Certificate[] {
  const presented: X509Certificate[] = []
  let certificate = socket.getPeerX509Certificate()
  for (; certificate; certificate = certificate.issuerCertificate) presented.push(certificate)
  return presented
}
