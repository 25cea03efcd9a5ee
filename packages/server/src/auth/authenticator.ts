import type { ApiRequest } from '../request/api-request.ts'
import { authenticatedGroup, type UserInfo, unauthenticatedGroup } from '../request/user-info.ts'

/**
 * Says who sent a request: undefined when it shows no credentials that this one knows. Throws {@link BadCredentials} when they are
 * wrong; another authenticator may still know the client. `warn` adds a Warning to the answer.
 */
export type Authenticator = (request: ApiRequest, warn?: (text: string) => void) => Promise<UserInfo | undefined>

/** Who a bearer token belongs to, and for which of the audiences asked for it is good (none when it knows no audiences). */
export interface TokenOwner {
  readonly user: UserInfo
  readonly audiences: readonly string[]
}

/** Knows the owners of some bearer tokens: undefined for tokens of others, throws {@link BadCredentials} for bad ones of its own. */
export type TokenAuthenticator = (token: string, audiences: readonly string[]) => Promise<TokenOwner | undefined>

/** Credentials that were shown and are not accepted; the client learns no more than 401, a TokenReview shows the text. */
export class BadCredentials extends Error {
  override readonly name = 'BadCredentials'
}

/** Extra key under which the credential that was used is recorded. */
export const credentialIdKey = 'authentication.kubernetes.io/credential-id'

/** Who sends requests without credentials. */
export const anonymousUser: UserInfo = { name: 'system:anonymous', groups: [unauthenticatedGroup] }

/** The user as a member of system:authenticated, unless it says itself what it is a member of. */
export function asAuthenticated(user: UserInfo): UserInfo {
  if (user.name === anonymousUser.name) return user
  if (user.groups.includes(authenticatedGroup) || user.groups.includes(unauthenticatedGroup)) return user
  return { ...user, groups: [...user.groups, authenticatedGroup] }
}

/** Several messages as Go's aggregate prints them: each once, in brackets when there are more than one. */
export function aggregateMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)]
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`
}
