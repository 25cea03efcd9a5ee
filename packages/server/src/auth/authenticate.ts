import { type ApiRequest, newUnauthorized } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import { settle } from '../request/awaitable.ts'
import type { UserInfo } from '../request/user-info.ts'
import { type Authenticator, anonymousUser, BadCredentials } from './authenticator.ts'

/**
 * Determines the user of a request. One accepted credential suffices, even if others are invalid. Responds with 401 when all
 * credentials are invalid. A request without credentials is anonymous if `allowsAnonymous` accepts its path; authorization decides what it may
 * do.
 */
export function authenticate(
  authenticators: readonly Authenticator[],
  request: ApiRequest,
  warn: (text: string) => void = () => undefined,
  allowsAnonymous: (path: string) => boolean = () => true,
): Awaitable<UserInfo> {
  let refused = false
  const refuse = (error: unknown): undefined => {
    if (!(error instanceof BadCredentials)) throw error
    refused = true
  }
  const from = (first: number): Awaitable<UserInfo> => {
    for (let i = first; i < authenticators.length; i++) {
      const user = settle(() => authenticators[i]!(request, warn), same, refuse)
      if (user instanceof Promise) return user.then((found) => found ?? from(i + 1))
      if (user) return user
    }
    if (refused || !allowsAnonymous(request.path)) throw newUnauthorized('Unauthorized')
    return anonymousUser
  }
  return from(0)
}

function same(user: UserInfo | undefined): UserInfo | undefined {
  return user
}
