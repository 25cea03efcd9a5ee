import type { ExtendedKeyUsage, ParsedCertificateRequest } from '@kubewright/base/pki'

/** The parameters of a certificate to sign. */
export interface CertificateWish {
  readonly request: ParsedCertificateRequest
  readonly usages: readonly ExtendedKeyUsage[]
  /** Epoch milliseconds. */
  readonly notBefore: number
  readonly notAfter: number
}

/** The signing functions of a cluster that controllers need. The control plane that holds the keys provides them. */
export interface ClusterTrust {
  /** The CA certificate of the API server, as PEM. @default none: no CA is published */
  readonly rootCa?: string | undefined
  /** Signs a JWT with these claims. The API server accepts the token. */
  readonly signToken: (claims: Readonly<Record<string, unknown>>) => string
  /** Signs a client certificate and returns it as PEM. The API server accepts the certificate. */
  readonly signCertificate: (wish: CertificateWish) => string
}
