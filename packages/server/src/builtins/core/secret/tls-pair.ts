import { createPrivateKey, X509Certificate } from 'node:crypto'
import { pemBlocks } from '@kubewright/base/pki'

/** Returns the error of Go's crypto/tls for a certificate and a key that do not form a pair; undefined for a valid pair. */
export function tlsPairProblem(certificate: string, key: string): string | undefined {
  const certificates = blocksOf(certificate)
  const first = certificates.find(({ type }) => type === 'CERTIFICATE')
  if (!first) return withoutCertificate(certificates.map(({ type }) => type))
  const keys = blocksOf(key)
  const own = keys.find(({ type }) => type === 'PRIVATE KEY' || type.endsWith(' PRIVATE KEY'))
  if (!own) return withoutKey(keys.map(({ type }) => type))
  let parsed: X509Certificate
  try {
    parsed = new X509Certificate(first.text)
  } catch {
    return 'x509: malformed certificate'
  }
  try {
    return parsed.checkPrivateKey(createPrivateKey(own.text)) ? undefined : 'tls: private key does not match public key'
  } catch {
    return 'tls: failed to parse private key'
  }
}

function blocksOf(text: string): { type: string; text: string }[] {
  return Array.from(pemBlocks(text), (block) => ({ type: block.label, text: block.text }))
}

function withoutCertificate(types: readonly string[]): string {
  if (types.length === 0) return 'tls: failed to find any PEM data in certificate input'
  if (types.length === 1 && types[0]!.endsWith('PRIVATE KEY')) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched'
  }
  const skipped = types.join(' ')
  return `tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of the following types: [${skipped}]`
}

function withoutKey(types: readonly string[]): string {
  if (types.length === 0) return 'tls: failed to find any PEM data in key input'
  if (types.length === 1 && types[0] === 'CERTIFICATE') {
    return 'tls: found a certificate rather than a key in the PEM for the private key'
  }
  const skipped = types.join(' ')
  return `tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping PEM blocks of the following types: [${skipped}]`
}
