import { append } from '../append.ts'
import { goQuote } from '../syntax/go-quote.ts'
import { pemBlocks } from './der.ts'
import { checkNameConstraints } from './name-constraints.ts'
import { type ParsedCertificate, parseCertificate } from './parsed-certificate.ts'
import { verifyHostname } from './verify-hostname.ts'

/** Options of {@link verifyServerCertificate}. */
export interface VerifyOptions {
  readonly roots: readonly ParsedCertificate[]
  /** The certificates that the server sent after its own. */
  readonly intermediates: readonly ParsedCertificate[]
  /** The DNS name or IP address that the certificate must have. */
  readonly host: string
  /** Milliseconds since the Unix epoch. */
  readonly now: number
}

/** How many signatures one verification may check, so that crafted chains cannot consume unbounded time. */
const maxSignatureChecks = 100
const certSign = 0x04
const anyUsage = '2.5.29.37.0'
const serverAuth = '1.3.6.1.5.5.7.3.1'

/** Signature algorithms that Go accepts, with the type of the key. SHA-1 and MD5 are insecure. */
const signatureKeys: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.11': 'rsa',
  '1.2.840.113549.1.1.12': 'rsa',
  '1.2.840.113549.1.1.13': 'rsa',
  '1.2.840.113549.1.1.10/2.16.840.1.101.3.4.2.1': 'rsa',
  '1.2.840.113549.1.1.10/2.16.840.1.101.3.4.2.2': 'rsa',
  '1.2.840.113549.1.1.10/2.16.840.1.101.3.4.2.3': 'rsa',
  '1.2.840.10045.4.3.2': 'ec',
  '1.2.840.10045.4.3.3': 'ec',
  '1.2.840.10045.4.3.4': 'ec',
  '1.3.101.112': 'ed25519',
}
const insecureAlgorithms: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.4': 'MD5-RSA',
  '1.2.840.113549.1.1.5': 'SHA1-RSA',
  '1.3.14.3.2.29': 'SHA1-RSA',
  '1.2.840.10045.4.1': 'ECDSA-SHA1',
}
const signatureFailures: Readonly<Record<string, string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
}

/** The certificates of a PEM bundle. Blocks that are no certificates or do not parse are skipped, as Go skips them. */
export function parseCertificates(pem: string): ParsedCertificate[] {
  const certificates: ParsedCertificate[] = []
  for (const { label, body } of pemBlocks(pem)) {
    if (label !== 'CERTIFICATE') continue
    try {
      certificates.push(parseCertificate(Buffer.from(body, 'base64')))
    } catch {}
  }
  return certificates
}

/**
 * Verifies the certificate of a TLS server as Go does. Throws an Error with Go's text if it is not trusted for the host.
 *
 * OpenSSL decides differently in two cases that clusters rely on: a certificate that is itself in `roots` is trusted, and issuers are found
 * by name and signature, so that a certificate may have the same subject as its CA and no key identifiers. As in Go's crypto/x509/verify.go.
 */
export function verifyServerCertificate(leaf: ParsedCertificate, options: VerifyOptions): void {
  const { roots, host, now } = options
  checkValidity(leaf, now)
  verifyHostname(leaf, host)
  const chains = roots.some(({ x509 }) => x509.raw.equals(leaf.x509.raw))
    ? [[leaf]]
    : chainsOf([leaf], { checked: 0 }, options)
  let constrained: Error | undefined
  for (const chain of chains) {
    if (!servesTls(chain)) continue
    try {
      checkNameConstraints(chain)
      return
    } catch (error) {
      constrained ??= error as Error
    }
  }
  if (!constrained) throw new Error('x509: certificate specifies an incompatible key usage')
  const why = 'x509: a root or intermediate certificate is not authorized to sign for this name'
  throw new Error(`${why}: ${constrained.message}`)
}

/** Every chain from the last certificate of `chain` to a root. Throws if there is none. */
function chainsOf(
  chain: readonly ParsedCertificate[],
  budget: { checked: number },
  options: VerifyOptions,
): ParsedCertificate[][] {
  const child = chain.at(-1)!
  const found: ParsedCertificate[][] = []
  let hint: { readonly error: Error; readonly candidate: ParsedCertificate } | undefined
  let failure: Error | undefined
  for (const kind of ['roots', 'intermediates'] as const) {
    for (const candidate of issuersOf(child, options[kind])) {
      if (++budget.checked > maxSignatureChecks) {
        if (found.length > 0) return found
        throw new Error('x509: signature check attempts limit reached while verifying certificate chain')
      }
      if (chain.some((known) => isSameIdentity(candidate, known))) continue
      try {
        checkSignature(child, candidate)
        checkValidity(candidate, options.now)
        checkAuthority(candidate, kind, chain.length - 1)
      } catch (error) {
        hint ??= { error: error as Error, candidate }
        continue
      }
      if (kind === 'roots') found.push([...chain, candidate])
      else {
        try {
          append(found, chainsOf([...chain, candidate], budget, options))
        } catch (error) {
          failure = error as Error
        }
      }
    }
  }
  if (found.length > 0) return found
  if (failure) throw failure
  const why = hint
    ? ` (possibly because of ${goQuote(hint.error.message)} while trying to verify candidate authority certificate ${goQuote(displayName(hint.candidate))})`
    : ''
  throw new Error(`x509: certificate signed by unknown authority${why}`)
}

/** Certificates with the subject that the child names as its issuer, best match of the key identifiers first. */
function issuersOf(child: ParsedCertificate, among: readonly ParsedCertificate[]): ParsedCertificate[] {
  const rank = ({ subjectKeyId }: ParsedCertificate): number => {
    if (!subjectKeyId || !child.authorityKeyId) return 1
    return subjectKeyId.equals(child.authorityKeyId) ? 0 : 2
  }
  return among.filter(({ subject }) => subject.equals(child.issuer)).sort((a, b) => rank(a) - rank(b))
}

function isSameIdentity(a: ParsedCertificate, b: ParsedCertificate): boolean {
  if (!a.subject.equals(b.subject) || !a.publicKeyInfo.equals(b.publicKeyInfo)) return false
  return a.names && b.names ? a.names.bytes.equals(b.names.bytes) : a.names === b.names
}

function checkSignature(child: ParsedCertificate, issuer: ParsedCertificate): void {
  const { basicConstraints, keyUsage, version } = issuer
  if (basicConstraints ? !basicConstraints.ca : version === 3) throw cannotSign()
  if (keyUsage !== 0 && !(keyUsage & certSign)) throw cannotSign()
  const insecure = insecureAlgorithms[child.signatureAlgorithm]
  if (insecure) throw new Error(`x509: cannot verify signature: insecure algorithm ${insecure}`)
  const keyType = signatureKeys[child.signatureAlgorithm]
  if (keyType === undefined) throw new Error('x509: cannot verify signature: algorithm unimplemented')
  const key = issuer.x509.publicKey
  if (key.asymmetricKeyType !== keyType) {
    throw new Error('x509: signature algorithm specifies a different kind of public key')
  }
  if ((key.asymmetricKeyDetails?.modulusLength ?? Number.POSITIVE_INFINITY) < 1024) {
    throw new Error('crypto/rsa: RSA keys smaller than 1024 bits are insecure')
  }
  if (!child.x509.verify(key)) throw new Error(signatureFailures[keyType])
}

function cannotSign(): Error {
  return new Error('x509: invalid signature: parent certificate cannot sign this kind of certificate')
}

function checkValidity({ unhandledCritical, notBefore, notAfter }: ParsedCertificate, now: number): void {
  if (unhandledCritical) throw new Error('x509: unhandled critical extension')
  const expired = (relation: string, limit: number): Error =>
    new Error(
      `x509: certificate has expired or is not yet valid: current time ${rfc3339(now)} is ${relation} ${rfc3339(limit)}`,
    )
  if (now < notBefore) throw expired('before', notBefore)
  if (now > notAfter) throw expired('after', notAfter)
}

/** Checks that a certificate may have so many intermediates below it. A root of version 1 needs no basic constraints. */
function checkAuthority(
  { basicConstraints }: ParsedCertificate,
  kind: 'roots' | 'intermediates',
  intermediates: number,
): void {
  if (kind === 'intermediates' && !basicConstraints?.ca) {
    throw new Error('x509: certificate is not authorized to sign other certificates')
  }
  if (intermediates > (basicConstraints?.maxPathLength ?? Number.POSITIVE_INFINITY)) {
    throw new Error('x509: too many intermediates for path length constraint')
  }
}

/** Whether every certificate of the chain permits server authentication. One without extended key usages permits all. */
function servesTls(chain: readonly ParsedCertificate[]): boolean {
  return chain.every(
    ({ extendedKeyUsages: usages }) => usages.length === 0 || usages.includes(anyUsage) || usages.includes(serverAuth),
  )
}

function displayName({ commonName, organizations, serial }: ParsedCertificate): string {
  return commonName || organizations[0] || `serial:${BigInt(`0x${serial.toString('hex') || '0'}`)}`
}

function rfc3339(millis: number): string {
  return new Date(millis).toISOString().replace(/\.\d+Z$/, 'Z')
}
