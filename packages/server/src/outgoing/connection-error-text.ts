import { CertificateError } from './certificate-error.ts'

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
const outOfDate = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])

/** The target of a connection. */
export interface ConnectionTarget {
  readonly host: string
  readonly port: number
}

/** The text of Go's net and crypto/tls packages for an error of Node. Clients know the Go texts from kube-apiserver. */
export function connectionErrorText(error: NodeJS.ErrnoException, { host, port }: ConnectionTarget): string {
  const code = error.code ?? ''
  const dialed = `dial tcp ${host.includes(':') ? `[${host}]` : host}:${port}`
  switch (code) {
    case 'ECONNREFUSED':
      return `${dialed}: connect: connection refused`
    case 'EHOSTUNREACH':
      return `${dialed}: connect: no route to host`
    case 'ENETUNREACH':
      return `${dialed}: connect: network is unreachable`
    case 'ETIMEDOUT':
      return `${dialed}: connect: connection timed out`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `dial tcp: lookup ${host}: no such host`
    case 'ECONNRESET':
      return 'EOF'
    // The server responded with plain HTTP instead of a TLS record.
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'ERR_SSL_HTTP_REQUEST':
      return 'http: server gave HTTP response to HTTPS client'
  }
  if (error instanceof CertificateError) return error.message
  if (untrusted.has(code)) return notVerified('certificate signed by unknown authority')
  if (outOfDate.has(code)) return notVerified('certificate has expired or is not yet valid')
  if (code.startsWith('HPE_')) return `net/http: HTTP/1.x transport connection broken: malformed HTTP response`
  return error.message
}

function notVerified(why: string): string {
  return `tls: failed to verify certificate: x509: ${why}`
}
