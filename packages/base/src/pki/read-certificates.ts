import type { X509Certificate } from 'node:crypto'
import { derTag, pemBlocks, readChildren, readDer, readOid } from './der.ts'
import { crypto } from './node-crypto.ts'

/** The certificates of a PEM bundle. Blocks that are no certificates or do not parse are skipped, as Go skips them. */
export function parseCertificates(pem: string): X509Certificate[] {
  const certificates: X509Certificate[] = []
  for (const { label, body } of pemBlocks(pem)) {
    if (label !== 'CERTIFICATE') continue
    try {
      certificates.push(new (crypto().X509Certificate)(Buffer.from(body, 'base64')))
    } catch {}
  }
  return certificates
}

/** The object identifier of the algorithm that signed a certificate. Throws a RangeError if the certificate is malformed. */
export function readSignatureAlgorithm(certificate: Uint8Array): string {
  const [, algorithm] = readChildren(readDer(certificate)[0], derTag.sequence)
  return readOid(readChildren(algorithm, derTag.sequence)[0])
}
