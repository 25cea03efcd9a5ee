import type { Clock } from '@kubewright/base'
import { CertificateAuthority, type KeyedCertificate, type ServerIdentity } from '@kubewright/server'

const renewAfter = 30 * 24 * 60 * 60_000

/** Issues the certificate with which the server authenticates to kubelets, when it is first needed and before it expires. */
export function kubeletClient(identity: () => ServerIdentity, clock: Clock): () => KeyedCertificate {
  let issued: { readonly at: number; readonly certificate: KeyedCertificate } | undefined
  return () => {
    const now = clock.now()
    if (issued === undefined || now - issued.at > renewAfter) {
      const subject = { commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }
      issued = { at: now, certificate: new CertificateAuthority(identity().ca).issueClient({ ...subject, now }) }
    }
    return issued.certificate
  }
}
