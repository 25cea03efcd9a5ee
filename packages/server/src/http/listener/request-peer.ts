import type { PeerCertificate, TLSSocket } from 'node:tls'
import type { RequestPeer } from '@kubewright/api'

const peers = new WeakMap<object, RequestPeer>()

/** The peer of a connection. The certificate is parsed once per connection. */
export function peerOf(socket: TLSSocket): RequestPeer {
  let peer = peers.get(socket)
  if (!peer) {
    const address = socket.remoteAddress ?? ''
    const certificate = socket.getPeerCertificate()
    if (!certificate.subject) peer = { address }
    else if (socket.authorized) peer = { address, certificate: subjectOf(certificate) }
    else peer = { address, certificateError: String(socket.authorizationError) }
    peers.set(socket, peer)
  }
  return peer
}

function subjectOf(certificate: PeerCertificate): NonNullable<RequestPeer['certificate']> {
  // A repeated attribute is a list. The last common name counts, as in Go.
  const valuesOf = (value: unknown): string[] =>
    value === undefined ? [] : Array.isArray(value) ? value : [String(value)]
  return {
    commonName: valuesOf(certificate.subject.CN).at(-1) ?? '',
    organizations: valuesOf(certificate.subject.O),
    fingerprint: certificate.fingerprint256,
  }
}
