// A separate entry point, so that the main entry does not load node:crypto.
export {
  CertificateAuthority,
  type CertificateRequest,
  type KeyedCertificate,
  serviceAddress,
  servingHosts,
} from './certificate-authority.ts'
export {
  checkCertificateRequest,
  type ParsedCertificateRequest,
  parseCertificateRequest,
} from './certificate-request.ts'
export {
  type DerValue,
  der,
  derBitString,
  derInteger,
  derOid,
  derSequence,
  fromPem,
  type PemBlock,
  pemBlocks,
  toPem,
} from './der.ts'
export { parseCertificates, readSignatureAlgorithm } from './read-certificates.ts'
export { verifyHostname } from './verify-hostname.ts'
export type { ExtendedKeyUsage } from './x509-extensions.ts'
export { type CertificateSubject, encodeName } from './x509-name.ts'
