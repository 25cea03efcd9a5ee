import type { Peer } from '../request/api-request.ts'
import type { UserInfo } from '../request/user-info.ts'
import { type Authenticator, asAuthenticated, BadCredentials, credentialIdKey } from './authenticator.ts'

/** A connection has one peer, and its requests one user. */
const users = new WeakMap<Peer, UserInfo>()

/** Authenticates by the client certificate that the listener has verified: the common name is the user, the organizations are its groups. */
export const clientCertificates: Authenticator = async ({ peer }) => {
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
