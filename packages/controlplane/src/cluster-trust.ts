import type { ClusterTrust } from '@kubewright/controllers'
import { CertificateAuthority, type ServerIdentity, ServiceAccountKeys } from '@kubewright/server'

/** What {@link clusterTrust} takes. */
export interface ClusterTrustOptions {
  /** PEM; published where it is given. */
  readonly rootCa: string | undefined
  /** PEM; the first one signs. */
  readonly serviceAccountKeys: readonly string[]
  /** Whose authority signs certificates; asked when the first one is signed. */
  readonly identity: () => ServerIdentity
}

/** The keys of a control plane in the form that its controllers use. */
export function clusterTrust({ rootCa, serviceAccountKeys, identity }: ClusterTrustOptions): ClusterTrust {
  let keys: ServiceAccountKeys | undefined
  return {
    rootCa,
    signToken: (claims) => (keys ??= new ServiceAccountKeys(serviceAccountKeys)).sign(claims),
    signCertificate: ({ request, usages, notBefore, notAfter }) =>
      new CertificateAuthority(identity().ca).sign(request.publicKey(), {
        subject: { commonName: request.commonName, organizations: request.organizations },
        hosts: [...request.dnsNames, ...request.ipAddresses],
        usages,
        notBefore,
        notAfter,
      }),
  }
}
