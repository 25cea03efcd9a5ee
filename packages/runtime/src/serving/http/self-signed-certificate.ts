import type { Clock } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import { certificateSource } from './certificate-source.ts'
import type { CertificateSource } from './http-listener.ts'

/**
 * A certificate that nobody can verify, for a server that was given none: it keeps what is said from being read on the way, as
 * controller-runtime does for metrics. Those who ask must skip the check, so give the server a real one where that matters.
 */
export function selfSignedCertificate(clock: Clock, hosts: readonly string[] = ['localhost']): CertificateSource {
  const now = clock.now()
  const ca = new CertificateAuthority(CertificateAuthority.create({ commonName: 'kubewright-self-signed-ca', now }))
  return certificateSource(ca.issueServing({ now, hosts }))
}
