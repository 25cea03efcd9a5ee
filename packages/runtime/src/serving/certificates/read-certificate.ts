import { X509Certificate } from 'node:crypto'

/** When a certificate begins and ends to be good, in milliseconds since the epoch. */
export interface CertificateTimes {
  readonly notBefore: number
  readonly notAfter: number
}

/** Certificates that were read lately: the same few are looked at again and again, and reading one takes a while. */
const known = new Map<string, CertificateTimes & { readonly certificate: X509Certificate }>()
const maxKnown = 64

/** A certificate, read from PEM, with its times. Throws when it is none. */
export function readCertificate(cert: string): CertificateTimes & { readonly certificate: X509Certificate } {
  let found = known.get(cert)
  if (found === undefined) {
    const certificate = new X509Certificate(cert)
    const { validFrom, validTo } = certificate
    found = { certificate, notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) }
    if (known.size >= maxKnown) known.clear()
    known.set(cert, found)
  }
  return found
}

/** Splits PEM into its certificates, each once and in order. */
export function splitBundle(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return [...new Set(blocks.map((block) => `${block}\n`))]
}

/** Whether a bundle has all certificates of another one. */
export function bundleContains(bundle: string, wanted: string): boolean {
  const found = new Set(splitBundle(bundle))
  return splitBundle(wanted).every((cert) => found.has(cert))
}
