import { X509Certificate } from 'node:crypto'
import type { ClusterTrust } from '@kubewright/controllers'
import { CertificateAuthority, type ServerIdentity, ServiceAccountKeys } from '@kubewright/server'

/** Options of {@link clusterTrust}. */
export interface ClusterTrustOptions {
  /** The CA certificate to publish, as PEM; undefined publishes none. */
  readonly rootCa: string | undefined
  /** Private keys as PEM; the first one signs tokens. A function is called when the first token is signed. */
  readonly serviceAccountKeys: readonly string[] | (() => readonly string[])
  /** Returns the identity whose CA signs certificates. Called only when a certificate is signed. */
  readonly identity: () => ServerIdentity
}

/** Creates the signing functions that the controllers need from the keys of a control plane. */
export function clusterTrust({ rootCa, serviceAccountKeys, identity }: ClusterTrustOptions): ClusterTrust {
  let keys: ServiceAccountKeys | undefined
  return {
    rootCa,
    signToken: (claims) => (keys ??= new ServiceAccountKeys(serviceAccountKeys)).sign(claims),
    signCertificate: ({ request, usages, notBefore, notAfter }) => {
      const { ca } = identity()
      return new CertificateAuthority(ca).sign(request.publicKey(), {
        subject: { commonName: request.commonName, organizations: request.organizations },
        hosts: [...request.dnsNames, ...request.ipAddresses],
        usages,
        notBefore,
        // A certificate never outlives its CA.
        notAfter: Math.min(notAfter, Date.parse(new X509Certificate(ca.cert).validTo)),
      })
    },
  }
}
