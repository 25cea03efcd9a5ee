import { type ApiRequest, newUnauthorized } from '@kubewright/api'
import type { UserInfo } from '../request/user-info.ts'
import { type Authenticator, anonymousUser, BadCredentials } from './authenticator.ts'

/**
 * Determines the user of a request. One accepted credential suffices, even if others are invalid. Responds with 401 when all
 * credentials are invalid. A request without credentials is anonymous if `allowsAnonymous` accepts its path; authorization decides what it may
 * do.
 */
export async function authenticate(
  authenticators: readonly Authenticator[],
  request: ApiRequest,
  warn: (text: string) => void = () => undefined,
  allowsAnonymous: (path: string) => boolean = () => true,
): Promise<UserInfo> {
  let refused = false
  for (const authenticator of authenticators) {
    try {
      const user = await authenticator(request, warn)
      if (user) return user
    } catch (error) {
      if (!(error instanceof BadCredentials)) throw error
      refused = true
    }
  }
  if (refused || !allowsAnonymous(request.path)) throw newUnauthorized('Unauthorized')
  return anonymousUser
}
