import type { RequestPeer } from '@kubewright/api'
import type { UserInfo } from '../request/user-info.ts'
import { type Authenticator, asAuthenticated, BadCredentials, credentialIdKey } from './authenticator.ts'

/** The user of each connection, so that a certificate is converted once. */
const users = new WeakMap<RequestPeer, UserInfo>()

/**
 * Authenticates by client certificates that the listener has verified. The common name is the user name; the organizations are the
 * groups.
 */
export const clientCertificates: Authenticator = ({ peer }) => {
  const known = users.get(peer)
  if (known) return known
  if (peer.certificateError !== undefined)
    throw new BadCredentials(`verifying certificate failed: ${peer.certificateError}`)
  const { certificate } = peer
  if (!certificate || certificate.commonName === '') return undefined
  const id = certificate.fingerprint?.replaceAll(':', '').toLowerCase()
  const user = asAuthenticated({
    name: certificate.commonName,
    groups: certificate.organizations,
    ...(id === undefined ? {} : { extra: { [credentialIdKey]: [`X509SHA256=${id}`] } }),
  })
  users.set(peer, user)
  return user
}
