import type { ApiRequest } from '@kubewright/api'
import { aggregateMessages } from '../request/aggregate-messages.ts'
import {
  type Authenticator,
  asAuthenticated,
  BadCredentials,
  type TokenAuthenticator,
  type TokenOwner,
} from './authenticator.ts'

const invalidToken = 'invalid bearer token'
const extraSpace = 'the provided Authorization header contains extra space before the bearer token, and is ignored'

/** The token of the Authorization header, or undefined for other schemes and for an empty token, which count as no credentials. */
export function bearerTokenOf(request: ApiRequest, warn?: (text: string) => void): string | undefined {
  const header = request.headers['authorization']?.trim() ?? ''
  // As Go's SplitN(…, " ", 3): text after a second space is ignored, and two consecutive spaces make the token empty.
  const [scheme = '', token = '', more] = header.split(' ', 3)
  if (scheme.toLowerCase() !== 'bearer') return undefined
  if (token === '' && more !== undefined) warn?.(extraSpace)
  return token === '' ? undefined : token
}

/**
 * Tries each authenticator in order. The user found is a member of system:authenticated. Throws with all their messages when none
 * accepts the token.
 */
export async function ownerOfToken(
  authenticators: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[],
): Promise<TokenOwner> {
  // The message of a TokenReview starts with this text, because kube-apiserver tries its loopback token first.
  const failures = [invalidToken]
  for (const authenticate of authenticators) {
    try {
      const owner = await authenticate(token, audiences)
      if (owner) return { ...owner, user: asAuthenticated(owner.user) }
    } catch (error) {
      if (!(error instanceof BadCredentials)) throw error
      failures.push(error.message)
    }
  }
  throw new BadCredentials(aggregateMessages(failures))
}

/** Authenticates requests by bearer tokens for the audiences of the API server. */
export function bearerTokens(
  authenticators: readonly TokenAuthenticator[],
  audiences: readonly string[],
): Authenticator {
  return (request, warn) => {
    const token = bearerTokenOf(request, warn)
    if (token === undefined) return undefined
    return ownerOfToken(authenticators, token, audiences).then(({ user }) => user)
  }
}
