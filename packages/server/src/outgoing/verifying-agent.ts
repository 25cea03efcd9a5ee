import type { Agent, AgentOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import type { ConnectionOptions, DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { onAbort, systemClock } from '@kubewright/base'
import {
  type ParsedCertificate,
  parseCertificate,
  parseCertificates,
  verifyHostname,
  verifyServerCertificate,
} from '@kubewright/base/pki'

/** The certificate of a server is not trusted. The message has the text of Go. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

/** What {@link verifyingAgent} trusts. */
export interface Trust {
  /** PEM of the trusted certificates. @default the CAs of Node, verified by OpenSSL */
  readonly ca?: string | undefined
  /** The name or address that the certificate must have. */
  readonly serverName: string
}

/** Options of a request through a {@link verifyingAgent}. */
export interface HandshakeOptions {
  /** Aborts the handshake. Node passes the signal of a request to its socket only, which does not exist during the handshake. */
  readonly handshakeSignal?: AbortSignal | undefined
}

type Created = (error: Error | null, socket?: Duplex) => void

/**
 * Returns an agent that connects to TLS servers and verifies their certificates as Go does. A connection carries no byte of a request before its
 * certificate is verified. TLS sessions are not resumed, because a resumed session has no certificates to verify.
 */
export function verifyingAgent(trust: Trust, options: AgentOptions): Agent {
  const agent = new (process.getBuiltinModule('node:https').Agent)({ ...options, maxCachedSessions: 0 })
  const roots = trust.ca === undefined ? undefined : parseCertificates(trust.ca)
  // Replaces the method of Node that creates connections. Node accepts the socket through the callback.
  agent.createConnection = (wanted, created) => {
    connectVerified(wanted as ConnectionOptions & HandshakeOptions, { ...trust, roots }, created as Created)
    return undefined
  }
  return agent
}

interface VerifiedTrust extends Trust {
  readonly roots: readonly ParsedCertificate[] | undefined
}

function connectVerified(options: ConnectionOptions & HandshakeOptions, trust: VerifiedTrust, created: Created): void {
  const { handshakeSignal: signal, ...rest } = options
  const socket = process.getBuiltinModule('node:tls').connect({
    ...rest,
    // Without roots of its own, the agent leaves the chain to OpenSSL; either way it checks the name itself.
    rejectUnauthorized: trust.roots === undefined,
    checkServerIdentity: () => undefined,
  })
  let settled = false
  const settle = (error: Error | null): void => {
    if (settled) return
    settled = true
    stopListening()
    socket.off('error', settle)
    socket.off('close', closed)
    if (!error) {
      created(null, socket)
      return
    }
    // The error event of a destroyed socket has no other listener.
    socket.on('error', () => {})
    socket.destroy()
    created(error)
  }
  const closed = (): void => settle(Object.assign(new Error('the peer closed the connection'), { code: 'ECONNRESET' }))
  const stopListening = onAbort(signal, () => settle(signal?.reason as Error))
  socket.once('error', settle)
  socket.once('close', closed)
  socket.once('secureConnect', () => settle(problemOf(socket, trust)))
}

/** Verifies the certificate of the server. */
function problemOf(socket: TLSSocket, { roots, serverName: host }: VerifiedTrust): Error | null {
  try {
    const [leaf, ...intermediates] = presentedBy(socket).map(parseCertificate)
    if (!leaf) throw new Error('tls: received empty certificates message')
    if (!roots) verifyHostname(leaf, host)
    else verifyServerCertificate(leaf, { roots, intermediates, host, now: systemClock.now() })
    return null
  } catch (error) {
    return new CertificateError(`tls: failed to verify certificate: ${(error as Error).message}`, { cause: error })
  }
}

/** The certificates that the server sent, its own first. Node links each to its issuer and the last one to itself. */
function presentedBy(socket: TLSSocket): Buffer[] {
  const chain: Buffer[] = []
  const seen = new Set<string>()
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  while (certificate?.raw && !seen.has(certificate.fingerprint256)) {
    seen.add(certificate.fingerprint256)
    chain.push(certificate.raw)
    certificate = certificate.issuerCertificate
  }
  return chain
}
