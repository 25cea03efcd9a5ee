import type { X509Certificate } from 'node:crypto'
import { CertificateAuthority, type KeyedCertificate } from '@kubewright/base/pki'
import { readCertificate } from './read-certificate.ts'

/** The certificates of a webhook server and of those who sign for it. */
export interface CertificateState {
  /** Signs serving certificates. */
  readonly signer: KeyedCertificate
  /** Is going to sign them, once everybody trusts it. */
  readonly next: KeyedCertificate | undefined
  /** Is shown by the servers. */
  readonly serving: KeyedCertificate
  /** Who is to be trusted, PEM each: also those that signed what some server may still show. */
  readonly trusted: readonly string[]
}

/** What a rotation depends on. */
export interface RotationFacts {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** What the serving certificate must be good for. */
  readonly hosts: readonly string[]
  /** Whether everybody who verifies certificates is known to trust all of `trusted`. */
  readonly settled: boolean
  readonly commonName: string
  readonly servingMillis: number
  readonly caMillis: number
}

/**
 * Decides what the certificates should be now; the same state when they are fine.
 *
 * At any moment the serving certificate was signed by somebody whom all verifiers trusted before it was issued: a new authority is
 * first trusted, and signs only when that is known to have settled; the one before stays trusted until it has expired, and with it
 * everything that it signed. Authorities and serving certificates are renewed when two thirds of their time have passed.
 */
export function planRotation(state: CertificateState | undefined, facts: RotationFacts): CertificateState {
  if (state === undefined) return fresh(facts)
  const { now, settled } = facts
  let { signer, next, serving } = state
  if (next && (settled || isExpired(signer, now))) {
    signer = next
    next = undefined
  }
  // Nobody looked after the certificates for so long that there is no trust left to build on.
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
  // The key in the name's place would do for machines; people tell authorities apart by when they were made.
  const name = `${commonName}-ca@${Math.floor(now / 1000)}`
  return CertificateAuthority.create({ commonName: name, now, validMillis: caMillis })
}

function issue(signer: KeyedCertificate, { now, hosts, commonName, servingMillis }: RotationFacts): KeyedCertificate {
  const { notBefore, notAfter } = readCertificate(signer.cert)
  return new CertificateAuthority(signer).issue({
    subject: { commonName },
    hosts,
    usages: ['serverAuth'],
    // Clocks differ a little; but nothing is good for longer than who vouches for it.
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
