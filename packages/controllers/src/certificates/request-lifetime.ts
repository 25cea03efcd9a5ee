import { X509Certificate } from 'node:crypto'
import { fromTime } from '@kubewright/api'
import type { CertificateSigningRequest } from '@kubewright/k8s'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const longest = 365 * day
const shortest = 10 * minute
/** Certificates are valid from this time before they are signed, so that clocks may differ. */
const backdate = 5 * minute

/**
 * The validity of a certificate that is signed now, for the requested seconds: at least ten minutes, at most a year, and never longer than
 * that of the CA. The end of a certificate of less than eight hours is not backdated (pkg/controller/certificates/authority/policies.go).
 */
export function validityOf(
  now: number,
  expirationSeconds: number | undefined,
): { readonly notBefore: number; readonly notAfter: number } {
  const wanted = expirationSeconds === undefined ? longest : expirationSeconds * 1000
  const lifetime = Math.min(longest, Math.max(shortest, wanted))
  return { notBefore: now - backdate, notAfter: now + lifetime - (lifetime < 8 * hour ? 0 : backdate) }
}

/**
 * The time at which the cleaner deletes a request: a day after its creation without a decision, a day after an approval without a
 * certificate, an hour after any other decision, and when its certificate expires (pkg/controller/certificates/cleaner).
 */
export function cleanupTimeOf({ metadata, status }: CertificateSigningRequest): number {
  const conditions = status?.conditions ?? []
  if (conditions.length === 0) return fromTime(metadata.creationTimestamp) + day
  const certificate = status?.certificate ?? ''
  const isIssued = certificate !== ''
  let end = Number.POSITIVE_INFINITY
  for (const { type, lastUpdateTime } of conditions) {
    const since = lastUpdateTime ? fromTime(lastUpdateTime) : Number.POSITIVE_INFINITY
    if (type === 'Denied' || type === 'Failed') end = Math.min(end, since + hour)
    if (type !== 'Approved') continue
    end = Math.min(end, since + (isIssued ? hour : day))
    if (isIssued) end = Math.min(end, expiryOf(certificate))
  }
  return end
}

/** When the certificate, as base64 of PEM, expires; never when it cannot be parsed. */
function expiryOf(certificate: string): number {
  try {
    return Date.parse(new X509Certificate(Buffer.from(certificate, 'base64')).validTo)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
