import type { X509Certificate } from 'node:crypto'
import { CertificateAuthority, type KeyedCertificate } from '@kubewright/base/pki'
import { readCertificate } from './read-certificate.ts'

/** The certificates of a webhook server and of its certificate authorities. */
export interface CertificateState {
  /** Signs serving certificates. */
  readonly signer: KeyedCertificate
  /** The next signer: signs once all clients trust it. */
  readonly next: KeyedCertificate | undefined
  /** The certificate that the servers present. */
  readonly serving: KeyedCertificate
  /** The trusted authorities, one PEM each. Includes earlier signers whose certificates may still be in use. */
  readonly trusted: readonly string[]
}

/** The input of {@link planRotation} besides the state. */
export interface RotationFacts {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** The hosts that the serving certificate must cover. */
  readonly hosts: readonly string[]
  /** Whether all clients are known to trust every authority in `trusted`. */
  readonly settled: boolean
  readonly commonName: string
  readonly servingMillis: number
  readonly caMillis: number
}

/**
 * Returns the certificates to use now; returns `state` itself when nothing has to change.
 *
 * Invariant: the serving certificate is signed by an authority that all clients trusted before the certificate was
 * issued. A new authority is published first, and signs only when `settled`. An earlier authority stays trusted until
 * it expires, and so do the certificates it signed. Authorities and serving certificates are renewed after two thirds
 * of their validity.
 */
export function planRotation(state: CertificateState | undefined, facts: RotationFacts): CertificateState {
  if (state === undefined) return fresh(facts)
  const { now, settled } = facts
  let { signer, next, serving } = state
  if (next && (settled || isExpired(signer, now))) {
    signer = next
    next = undefined
  }
  // All authorities have expired: there is no trust to build on.
  if (isExpired(signer, now)) return fresh(facts)
  const issuer = readCertificate(signer.cert).certificate
  const shown = readCertificate(serving.cert).certificate
  const signed = shown.checkIssued(issuer) && shown.verify(issuer.publicKey)
  if (!signed || isDue(serving, now) || !facts.hosts.every((host) => covers(shown, host)))
    serving = issue(signer, facts)
  if (!next && isDue(signer, now)) next = authority(facts)
  const trusted = [signer.cert, ...(next ? [next.cert] : []), ...state.trusted].filter(
    (cert, index, all) => all.indexOf(cert) === index && readCertificate(cert).notAfter > now,
  )
  const same = signer === state.signer && next === state.next && serving === state.serving
  return same && trusted.length === state.trusted.length ? state : { signer, next, serving, trusted }
}

function fresh(facts: RotationFacts): CertificateState {
  const signer = authority(facts)
  return { signer, next: undefined, serving: issue(signer, facts), trusted: [signer.cert] }
}

function authority({ now, commonName, caMillis }: RotationFacts): KeyedCertificate {
  // The creation time in the name lets people tell authorities apart.
  const name = `${commonName}-ca@${Math.floor(now / 1000)}`
  return CertificateAuthority.create({ commonName: name, now, validMillis: caMillis })
}

function issue(signer: KeyedCertificate, { now, hosts, commonName, servingMillis }: RotationFacts): KeyedCertificate {
  const { notBefore, notAfter } = readCertificate(signer.cert)
  return new CertificateAuthority(signer).issue({
    subject: { commonName },
    hosts,
    usages: ['serverAuth'],
    // An hour of tolerance for clock skew; a certificate must not outlive its authority.
    notBefore: Math.max(notBefore, now - 60 * 60 * 1000),
    notAfter: Math.min(notAfter, now + servingMillis),
  })
}

function isExpired({ cert }: KeyedCertificate, now: number): boolean {
  return readCertificate(cert).notAfter <= now
}

function isDue({ cert }: KeyedCertificate, now: number): boolean {
  const { notBefore, notAfter } = readCertificate(cert)
  return now >= notBefore + ((notAfter - notBefore) * 2) / 3
}

function covers(certificate: X509Certificate, host: string): boolean {
  return (/^[\d.]+$|:/.test(host) ? certificate.checkIP(host) : certificate.checkHost(host)) !== undefined
}
