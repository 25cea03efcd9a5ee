import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { KeyedCertificate } from '@kubewright/base/pki'

/** Throws when a certificate or a key cannot be parsed, or when they do not match. */
export function checkPair({ cert, key }: KeyedCertificate): void {
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new Error('the private key does not belong to the certificate')
  }
}
