import { X509Certificate } from 'node:crypto'
import { KubewrightError, parseIPSloppy } from '@kubewright/base'
import { CertificateAuthority, type KeyedCertificate } from '@kubewright/base/pki'
import { createFrontProxyCa } from './aggregation/front-proxy.ts'
import { ServiceAccountKeys } from './auth/service-account-keys.ts'

/** The keys and certificates of a server. A server that restarts with the same identity is the same server to its clients. */
export interface ServerIdentity {
  /**
   * Signs the serving certificate and client certificates. Clients trust it for the server, and the server trusts it for clients.
   */
  readonly ca: KeyedCertificate
  readonly serving: KeyedCertificate
  /** A client certificate of group system:masters. */
  readonly admin: KeyedCertificate
  /** PEM of the key that signs service account tokens. */
  readonly serviceAccountKey: string
  /** Signs the client certificate with which the server authenticates to extension servers as front proxy. */
  readonly frontProxyCa: KeyedCertificate
}

/** A stored identity, in which newer parts may be missing. */
export type KeptIdentity = Omit<ServerIdentity, 'frontProxyCa'> & Partial<Pick<ServerIdentity, 'frontProxyCa'>>

/** The user of the admin client certificate in a {@link ServerIdentity}. */
export const adminUser = 'kubernetes-admin'

const mastersGroup = 'system:masters'
const renewBefore = 30 * 24 * 60 * 60 * 1000

/** Generates a new identity. The serving certificate is also valid for the given names and addresses. */
export function createServerIdentity(now: number, hosts: readonly string[] = []): ServerIdentity {
  const ca = CertificateAuthority.create({ commonName: 'kubewright-ca', now })
  const frontProxyCa = createFrontProxyCa(now)
  return withLeaves({ ca, frontProxyCa, serviceAccountKey: ServiceAccountKeys.generate() }, now, hosts)
}

/**
 * Replaces certificates that expire within a month, that the CA did not sign, or that lack one of the hosts. Returns the same object when all are valid. Throws
 * when the CA itself expires within a month, because clients would have to trust a new one.
 */
export function renewServerIdentity(kept: KeptIdentity, now: number, hosts: readonly string[] = []): ServerIdentity {
  const { frontProxyCa } = kept
  const valid = frontProxyCa && expiryOf(new X509Certificate(frontProxyCa.cert)) >= now + renewBefore
  // Extension servers read the current CA from the cluster.
  const identity = (valid ? kept : { ...kept, frontProxyCa: createFrontProxyCa(now) }) as ServerIdentity
  const authority = new X509Certificate(identity.ca.cert)
  if (expiryOf(authority) < now + renewBefore)
    throw new KubewrightError(
      'KW_IDENTITY',
      `The certificate authority expires on ${authority.validTo}: delete the identity to generate a new one`,
    )
  const good = [identity.serving, identity.admin].every(({ cert }) => {
    const certificate = new X509Certificate(cert)
    return expiryOf(certificate) >= now + renewBefore && certificate.verify(authority.publicKey)
  })
  const serving = new X509Certificate(identity.serving.cert)
  const covered = hosts.every(
    (host) => (parseIPSloppy(host) ? serving.checkIP(host) : serving.checkHost(host)) !== undefined,
  )
  return good && covered ? identity : withLeaves(identity, now, hosts)
}

function withLeaves(
  kept: Pick<ServerIdentity, 'ca' | 'frontProxyCa' | 'serviceAccountKey'>,
  now: number,
  hosts: readonly string[],
): ServerIdentity {
  const authority = new CertificateAuthority(kept.ca)
  return {
    ca: kept.ca,
    serving: authority.issueServing({ now, hosts }),
    admin: authority.issueClient({ commonName: adminUser, organizations: [mastersGroup], now }),
    serviceAccountKey: kept.serviceAccountKey,
    frontProxyCa: kept.frontProxyCa,
  }
}

function expiryOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo)
}
