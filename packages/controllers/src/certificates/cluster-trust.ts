import type { ExtendedKeyUsage, ParsedCertificateRequest } from '@kubewright/base/pki'

/** A certificate that is to be signed. */
export interface CertificateWish {
  readonly request: ParsedCertificateRequest
  readonly usages: readonly ExtendedKeyUsage[]
  /** Epoch milliseconds. */
  readonly notBefore: number
  readonly notAfter: number
}

/** The keys of a cluster, as far as controllers need them. Whoever assembles a control plane holds them. */
export interface ClusterTrust {
  /** The authority, PEM, that vouches for the API server. @default none: it is published nowhere */
  readonly rootCa?: string | undefined
  /** A JWT with these claims that the API server accepts. */
  readonly signToken: (claims: Readonly<Record<string, unknown>>) => string
  /** A certificate, PEM, that the API server accepts. */
  readonly signCertificate: (wish: CertificateWish) => string
}
