import type { ApiRequest } from '@kubewright/api'
import { type Awaitable, CaughtError } from '@kubewright/base'
import { authenticatedGroup, type UserInfo, unauthenticatedGroup } from '../request/user-info.ts'

/**
 * Determines the user of a request. Returns undefined when the request has no credentials of this kind. Throws
 * {@link BadCredentials} when they are invalid; other authenticators are still tried. `warn` adds a Warning header to the response.
 */
export type Authenticator = (request: ApiRequest, warn?: (text: string) => void) => Awaitable<UserInfo | undefined>

/**
 * The user of a bearer token, and the requested audiences that the token is valid for (none when the authenticator does not support
 * audiences).
 */
export interface TokenOwner {
  readonly user: UserInfo
  readonly audiences: readonly string[]
}

/**
 * Determines the user of a bearer token. Returns undefined for tokens of other authenticators and throws {@link BadCredentials} for
 * invalid tokens of its own.
 */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Promise<TokenOwner | undefined>

/** Invalid credentials. The client only sees 401; a TokenReview shows the message. */
export class BadCredentials extends CaughtError {
  override readonly name = 'BadCredentials'
}

/** The extra key that records which credential was used. */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id'

/** The user of requests without credentials. */
export const anonymousUser: UserInfo = { name: 'system:anonymous', groups: [unauthenticatedGroup] }

/** Adds the group system:authenticated unless the user already has it or system:unauthenticated. */
export function asAuthenticated(user: UserInfo): UserInfo {
  if (user.name === anonymousUser.name) return user
  if (user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)) return user
  return { ...user, groups: [...user.groups, authenticatedGroup] }
}
