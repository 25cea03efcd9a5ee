import { X509Certificate } from 'node:crypto'
import { CertificateAuthority, type KeyedCertificate } from '@kubewright/base/pki'
import { createFrontProxyCa } from './aggregation/front-proxy.ts'
import { ServiceAccountKeys } from './auth/service-account-keys.ts'

/** The keys and certificates that make one server itself: whoever keeps them can start it again without its clients noticing. */
export interface ServerIdentity {
  /** Signs the serving certificate and client certificates; clients trust it, and the server trusts it for clients. */
  readonly ca: KeyedCertificate
  readonly serving: KeyedCertificate
  /** A client certificate of group system:masters. */
  readonly admin: KeyedCertificate
  /** PEM; signs service account tokens. */
  readonly serviceAccountKey: string
  /** Vouches for the server as the proxy in front of extension servers. */
  readonly frontProxyCa: KeyedCertificate
}

/** An identity of which the parts that were added later may be missing. */
export type KeptIdentity = Omit<ServerIdentity, 'frontProxyCa'> & Partial<Pick<ServerIdentity, 'frontProxyCa'>>

/** The user that the client certificate of a {@link ServerIdentity} names. */
export const adminUser = 'kubernetes-admin'

const mastersGroup = 'system:masters'
const renewBefore = 30 * 24 * 60 * 60 * 1000

/** Makes an identity that never was before. */
export function createServerIdentity(now: number): ServerIdentity {
  const ca = CertificateAuthority.create({ commonName: 'kubewright-ca', now })
  const frontProxyCa = createFrontProxyCa(now)
  return withLeaves({ ca, frontProxyCa, serviceAccountKey: ServiceAccountKeys.generate() }, now)
}

/**
 * The identity with certificates that are good for a month at least: those that are not, or that the CA did not sign, are issued anew.
 * The same object when nothing had to be done. A CA that is about to expire is refused: no renewal can hide that from its clients.
 */
export function renewServerIdentity(kept: KeptIdentity, now: number): ServerIdentity {
  const { frontProxyCa } = kept
  const lasts = frontProxyCa && expiryOf(new X509Certificate(frontProxyCa.cert)) >= now + renewBefore
  // Extension servers learn of a new one in the cluster.
  const identity = (lasts ? kept : { ...kept, frontProxyCa: createFrontProxyCa(now) }) as ServerIdentity
  const authority = new X509Certificate(identity.ca.cert)
  if (expiryOf(authority) < now + renewBefore)
    throw new Error(`The certificate authority expires on ${authority.validTo}: delete it to have a new one made`)
  const good = [identity.serving, identity.admin].every(({ cert }) => {
    const certificate = new X509Certificate(cert)
    return expiryOf(certificate) >= now + renewBefore && certificate.verify(authority.publicKey)
  })
  return good ? identity : withLeaves(identity, now)
}

function withLeaves(
  kept: Pick<ServerIdentity, 'ca' | 'frontProxyCa' | 'serviceAccountKey'>,
  now: number,
): ServerIdentity {
  const authority = new CertificateAuthority(kept.ca)
  return {
    ca: kept.ca,
    serving: authority.issueServing({ now }),
    admin: authority.issueClient({ commonName: adminUser, organizations: [mastersGroup], now }),
    serviceAccountKey: kept.serviceAccountKey,
    frontProxyCa: kept.frontProxyCa,
  }
}

function expiryOf(certificate: X509Certificate): number {
  return Date.parse(certificate.validTo)
}
