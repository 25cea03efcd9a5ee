import type { Clock } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import { certificateSource } from './certificate-source.ts'
import type { CertificateSource } from './http-listener.ts'

/**
 * A self-signed certificate for a server without a configured one, as controller-runtime uses for metrics. It encrypts
 * the traffic, but clients cannot verify it and must skip verification. Use a real certificate where that matters.
 */
export function selfSignedCertificate(clock: Clock, hosts: readonly string[] = ['localhost']): CertificateSource {
  const now = clock.now()
  const ca = new CertificateAuthority(CertificateAuthority.create({ commonName: 'kubewright-self-signed-ca', now }))
  return certificateSource(ca.issueServing({ now, hosts }))
}
