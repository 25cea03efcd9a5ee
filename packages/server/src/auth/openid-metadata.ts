import type { PathHandler } from '../api-server.ts'
import { respondText } from '../http/respond.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'

const jwksPath = '/openid/v1/jwks'
const maxAge = 'public, max-age=3600'

/** Serves what relying parties need to verify service account tokens: the issuer's discovery document and its public keys. */
export function openIdMetadata(tokens: ServiceAccountTokens, externalAddress: () => string): PathHandler {
  return async ({ info, request }) => {
    if (request.method !== 'GET') return undefined
    if (info.path === jwksPath) return document(tokens.keys.jwks(), 'application/jwk-set+json')
    if (info.path !== '/.well-known/openid-configuration') return undefined
    const configuration = {
      issuer: tokens.issuer,
      jwks_uri: `https://${externalAddress()}${jwksPath}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: tokens.keys.algorithms(),
    }
    return document(configuration, 'application/json')
  }
}

function document(value: unknown, contentType: string): ReturnType<typeof respondText> {
  const response = respondText(200, JSON.stringify(value), contentType)
  return { ...response, headers: { ...response.headers, 'cache-control': maxAge } }
}
