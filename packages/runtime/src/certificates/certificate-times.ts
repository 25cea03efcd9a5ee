import { X509Certificate } from 'node:crypto'

/** When a certificate begins and ends to be good, in milliseconds since the epoch. */
export interface CertificateTimes {
  readonly notBefore: number
  readonly notAfter: number
}

/** The times of a certificate, PEM. */
export function timesOf(cert: string): CertificateTimes {
  const { validFrom, validTo } = new X509Certificate(cert)
  return { notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) }
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
