import { CaughtError } from '@kubewright/base'
import type { KeyedCertificate } from '@kubewright/base/pki'

/** Throws when a certificate or a key cannot be parsed, or when they do not match. */
export function checkPair({ cert, key }: KeyedCertificate): void {
  const { createPrivateKey, X509Certificate } = process.getBuiltinModule('node:crypto')
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    throw new CaughtError('the private key does not belong to the certificate')
  }
}
