import type { X509Certificate } from 'node:crypto'

/** The validity period of a certificate, in milliseconds since the epoch. */
export interface CertificateTimes {
  readonly notBefore: number
  readonly notAfter: number
}

/** Recently parsed certificates: the same few are read repeatedly, and parsing is slow. */
const known = new Map<string, CertificateTimes & { readonly certificate: X509Certificate }>()
const maxKnown = 64

/** Parses a PEM certificate. Throws when it is invalid. */
export function readCertificate(cert: string): CertificateTimes & { readonly certificate: X509Certificate } {
  let found = known.get(cert)
  if (found === undefined) {
    const certificate = new (process.getBuiltinModule('node:crypto').X509Certificate)(cert)
    const { validFrom, validTo } = certificate
    found = { certificate, notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) }
    if (known.size >= maxKnown) known.clear()
    known.set(cert, found)
  }
  return found
}

/** Splits a PEM bundle into its certificates, in order and without duplicates. */
export function splitBundle(pem: string): string[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return [...new Set(blocks.map((block) => `${block}\n`))]
}

/** Whether `bundle` contains all certificates of `wanted`. */
export function bundleContains(bundle: string, wanted: string): boolean {
  const found = new Set(splitBundle(bundle))
  return splitBundle(wanted).every((cert) => found.has(cert))
}
