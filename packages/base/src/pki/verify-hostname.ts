import { IPAddress } from '../syntax/ip.ts'
import type { ParsedCertificate } from './parsed-certificate.ts'

/**
 * Throws an Error with the text of Go unless the certificate is valid for the host. Only subject alternative names count; the common name
 * does not. As in VerifyHostname of Go's crypto/x509/verify.go.
 */
export function verifyHostname(certificate: ParsedCertificate, host: string): void {
  const { dns = [], addresses = [] } = certificate.names ?? {}
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  const address = parseAddress(bare)
  if (address) {
    if (addresses.some((known) => sameAddress(known, address))) return
    throw hostnameError(certificate, bare, true)
  }
  const name = lower(host)
  const parts = trimDot(name).split('.')
  const valid = isValidHostname(trimDot(name), false)
  for (const pattern of dns) {
    if (valid && isValidHostname(pattern, true) ? matches(pattern, parts) : matchesExactly(pattern, name)) return
  }
  throw hostnameError(certificate, host, false)
}

function hostnameError({ names, commonName }: ParsedCertificate, host: string, isAddress: boolean): Error {
  const { dns = [], addresses = [] } = names ?? {}
  if (!names && matches(commonName, trimDot(lower(host)).split('.'))) {
    return new Error('x509: certificate relies on legacy Common Name field, use SANs instead')
  }
  if (isAddress && addresses.length === 0) {
    return new Error(`x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`)
  }
  const valid = isAddress ? addresses.map((address) => address.unmap().toString()) : dns
  if (valid.length === 0) {
    return new Error(`x509: certificate is not valid for any names, but wanted to match ${host}`)
  }
  return new Error(`x509: certificate is valid for ${valid.join(', ')}, not ${host}`)
}

/** Whether a pattern matches. A wildcard must be the complete first label and stands for exactly one label. */
function matches(pattern: string, parts: readonly string[]): boolean {
  const patterns = lower(pattern).split('.')
  if (pattern === '' || patterns.length !== parts.length) return false
  return patterns.every((part, i) => (i === 0 && part === '*') || part === parts[i])
}

function matchesExactly(pattern: string, name: string): boolean {
  if (['', '.'].includes(pattern) || ['', '.'].includes(name)) return false
  return lower(pattern) === name
}

function isValidHostname(host: string, isPattern: boolean): boolean {
  if (host === '' || host === '*') return false
  return host
    .split('.')
    .every((part, i) => (isPattern && i === 0 && part === '*') || /^[a-zA-Z0-9_][a-zA-Z0-9_-]*$/.test(part))
}

function parseAddress(text: string): IPAddress | undefined {
  try {
    const address = IPAddress.parse(text)
    return address.zone === '' ? address : undefined
  } catch {
    return undefined
  }
}

function sameAddress(a: IPAddress, b: IPAddress): boolean {
  return Buffer.from(a.unmap().bytes).equals(b.unmap().bytes)
}

const trimDot = (name: string): string => (name.endsWith('.') ? name.slice(0, -1) : name)
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
