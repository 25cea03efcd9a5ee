const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])
const outOfDate = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])

/** The parts of a certificate that error texts name. */
interface NamedCertificate {
  readonly subjectaltname?: string
}

/** The target of a connection. */
export interface ConnectionTarget {
  readonly host: string
  readonly port: number
  /** The name that the certificate must have. */
  readonly serverName: string
}

/** The text of Go's net and crypto/tls packages for an error of Node. Clients know the Go texts from kube-apiserver. */
export function connectionErrorText(
  error: NodeJS.ErrnoException,
  { host, port, serverName }: ConnectionTarget,
): string {
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
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return notVerified(wrongName(serverName, (error as { cert?: NamedCertificate }).cert))
  }
  if (untrusted.has(code)) return notVerified('certificate signed by unknown authority')
  if (outOfDate.has(code)) return notVerified('certificate has expired or is not yet valid')
  // The server responded with plain HTTP instead of a TLS record.
  if (/wrong version number|packet length too long|http request/i.test(error.message)) {
    return 'http: server gave HTTP response to HTTPS client'
  }
  if (code.startsWith('HPE_')) return `net/http: HTTP/1.x transport connection broken: malformed HTTP response`
  return error.message
}

function notVerified(why: string): string {
  return `tls: failed to verify certificate: x509: ${why}`
}

function wrongName(wanted: string, certificate: NamedCertificate | undefined): string {
  const names = (certificate?.subjectaltname ?? '').split(', ').filter((name) => name !== '')
  const addresses = names.filter((name) => name.startsWith('IP Address:')).map((name) => name.slice(11))
  const hosts = names.filter((name) => name.startsWith('DNS:')).map((name) => name.slice(4))
  const isAddress = wanted.includes(':') || /^\d+(\.\d+){3}$/.test(wanted)
  if (isAddress && addresses.length === 0) {
    return `cannot validate certificate for ${wanted} because it doesn't contain any IP SANs`
  }
  const valid = isAddress ? addresses : hosts
  if (names.length === 0) return 'certificate relies on legacy Common Name field, use SANs instead'
  if (valid.length === 0) return `certificate is not valid for any names, but wanted to match ${wanted}`
  return `certificate is valid for ${valid.join(', ')}, not ${wanted}`
}
