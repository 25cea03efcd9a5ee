import type { X509Certificate } from 'node:crypto'
import { CaughtError, goQuote } from '@kubewright/base'
import { readSignatureAlgorithm, verifyHostname } from '@kubewright/base/pki'

/** The certificate of a server is not trusted. The message has the text of Go. */
export class CertificateError extends CaughtError {
  override readonly name = 'CertificateError'
}

/** What a server presented, and why OpenSSL refused it. */
export interface RefusedCertificate {
  readonly leaf: X509Certificate
  /** The other certificates that the server sent. */
  readonly presented: readonly X509Certificate[]
  readonly roots: readonly X509Certificate[]
  readonly host: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  readonly reason: NodeJS.ErrnoException
}

const insecureAlgorithms: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.4': 'MD5-RSA',
  '1.2.840.113549.1.1.5': 'SHA1-RSA',
  '1.2.840.10045.4.1': 'ECDSA-SHA1',
}
const signatureFailures: Readonly<Record<string, string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
}
const wrongUsage = 'x509: certificate specifies an incompatible key usage'
/** Texts of Go for the reasons of OpenSSL that are not about the issuer of the certificate. */
const texts: Readonly<Record<string, string>> = {
  'unsuitable certificate purpose': wrongUsage,
  'unsupported certificate purpose': wrongUsage,
  'unhandled critical extension': 'x509: unhandled critical extension',
}

/** The text of Go for a certificate that OpenSSL refused, checked in the order of Go. It explains the refusal; it decides nothing. */
export function certificateErrorText(refused: RefusedCertificate): string {
  const { leaf, host, now, reason } = refused
  const expired = validityProblem(leaf, now)
  if (expired !== undefined) return expired
  try {
    verifyHostname(leaf, host)
  } catch (error) {
    return (error as Error).message
  }
  const { message } = reason
  if (message.endsWith('subtree violation')) {
    return `x509: a root or intermediate certificate is not authorized to sign for this name: ${message}`
  }
  return texts[message] ?? `x509: certificate signed by unknown authority${issuerHint(refused)}`
}

function issuerHint({ leaf, roots, presented, now, reason }: RefusedCertificate): string {
  const issuer = [...roots, ...presented].find(({ subject }) => subject === leaf.issuer)
  if (!issuer) return ''
  const why = issuerProblem(leaf, issuer, now) ?? chainProblem(reason)
  if (why === undefined) return ''
  const name = /^CN=(.*)$/m.exec(issuer.subject)?.[1] ?? issuer.subject.replace(/^\w+=/, '').split('\n')[0]!
  return ` (possibly because of ${goQuote(why)} while trying to verify candidate authority certificate ${goQuote(name)})`
}

function issuerProblem(leaf: X509Certificate, issuer: X509Certificate, now: number): string | undefined {
  if (!issuer.ca || !leaf.checkIssued(issuer)) {
    return 'x509: invalid signature: parent certificate cannot sign this kind of certificate'
  }
  const insecure = insecureAlgorithms[readSignatureAlgorithm(leaf.raw)]
  if (insecure !== undefined) return `x509: cannot verify signature: insecure algorithm ${insecure}`
  if (!leaf.verify(issuer.publicKey)) return signatureFailures[issuer.publicKey.asymmetricKeyType ?? '']
  return validityProblem(issuer, now)
}

function chainProblem({ code, message }: NodeJS.ErrnoException): string | undefined {
  if (code === 'PATH_LENGTH_EXCEEDED') return 'x509: too many intermediates for path length constraint'
  return code === 'UNSPECIFIED' ? `x509: ${message}` : undefined
}

function validityProblem({ validFrom, validTo }: X509Certificate, now: number): string | undefined {
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)]
  if (now >= from && now <= to) return undefined
  const relation = now < from ? `before ${rfc3339(from)}` : `after ${rfc3339(to)}`
  return `x509: certificate has expired or is not yet valid: current time ${rfc3339(now)} is ${relation}`
}

function rfc3339(millis: number): string {
  return new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z')
}
