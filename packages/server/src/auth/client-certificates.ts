import { type Authenticator, asAuthenticated, BadCredentials, credentialIdKey } from './authenticator.ts'

/** Authenticates by the client certificate that the listener has verified: the common name is the user, the organizations are its groups. */
export const clientCertificates: Authenticator = async ({ peer }) => {
  if (peer.certificateError !== undefined)
    throw new BadCredentials(`verifying certificate failed: ${peer.certificateError}`)
  const { certificate } = peer
  if (!certificate || certificate.commonName === '') return undefined
  const id = certificate.fingerprint?.replaceAll(':', '').toLowerCase()
  return asAuthenticated({
    name: certificate.commonName,
    groups: certificate.organizations,
    ...(id === undefined ? {} : { extra: { [credentialIdKey]: [`X509SHA256=${id}`] } }),
  })
}
