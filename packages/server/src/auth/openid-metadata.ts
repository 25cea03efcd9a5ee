import type { ApiRequest, ApiResponse } from '@kubewright/api'
import type { PathHandler } from '../request/path-handler.ts'
import { respondText } from '../request/respond.ts'
import { checkAccept, notAllowed } from '../request/route-errors.ts'
import type { ServiceAccountTokens } from './service-account-tokens.ts'

const jwksPath = '/openid/v1/jwks'
const maxAge = 'public, max-age=3600'

/**
 * Serves the OpenID discovery document of the token issuer and its public keys, with which other parties verify service account
 * tokens.
 */
export function openIdMetadata(tokens: ServiceAccountTokens, externalAddress: () => string): PathHandler {
  return ({ info, request }) => {
    if (info.path === jwksPath) return document(request, tokens.keys.jwks(), 'application/jwk-set+json')
    if (info.path !== '/.well-known/openid-configuration') return undefined
    const configuration = {
      issuer: tokens.issuer,
      jwks_uri: `https://${externalAddress()}${jwksPath}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: tokens.keys.algorithms(),
    }
    return document(request, configuration, 'application/json')
  }
}

function document({ method, headers }: ApiRequest, value: unknown, contentType: string): ApiResponse {
  if (method !== 'GET') throw notAllowed()
  checkAccept(headers['accept'], contentType)
  const response = respondText(200, JSON.stringify(value), contentType)
  return { ...response, headers: { ...response.headers, 'cache-control': maxAge } }
}
