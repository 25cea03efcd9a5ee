import type { X509Certificate } from 'node:crypto'
import { CaughtError } from '../caught-error.ts'
import { IPAddress } from '../syntax/ip.ts'

/**
 * Throws an Error with the text of Go unless the certificate is valid for the host. Only subject alternative names count; the common name
 * does not. OpenSSL compares the names. Two cases are stricter than in Go: a wildcard needs two labels behind it, and a name must be a valid
 * hostname.
 */
export function verifyHostname(certificate: X509Certificate, host: string): void {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  const address = parseAddress(bare)
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  const isValid = address
    ? certificate.checkIP(address.unmap().toString()) !== undefined
    : // OpenSSL takes an empty name for a bug of the caller, and a name with a leading period for any name below the domain.
      !/^(\.|$)/.test(name) && certificate.checkHost(name, sanOnly) !== undefined
  if (!isValid) throw new CaughtError(`x509: ${problemOf(certificate, address ? bare : host, address !== undefined)}`)
}

const sanOnly = { subject: 'never', wildcards: true, partialWildcards: false, multiLabelWildcards: false } as const

function problemOf(certificate: X509Certificate, host: string, isAddress: boolean): string {
  const { subjectAltName, subject } = certificate
  if (subjectAltName === undefined && /^CN=(.*)$/m.exec(subject ?? '')?.[1]?.toLowerCase() === host.toLowerCase()) {
    return 'certificate relies on legacy Common Name field, use SANs instead'
  }
  const label = isAddress ? 'IP Address:' : 'DNS:'
  const names = (subjectAltName ?? '').split(', ').filter((name) => name.startsWith(label))
  if (names.length > 0) {
    return `certificate is valid for ${names.map((text) => text.slice(label.length)).join(', ')}, not ${host}`
  }
  if (isAddress) return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
  return `certificate is not valid for any names, but wanted to match ${host}`
}

function parseAddress(text: string): IPAddress | undefined {
  try {
    const address = IPAddress.parse(text)
    return address.zone === '' ? address : undefined
  } catch {
    return undefined
  }
}
