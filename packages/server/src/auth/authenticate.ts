import { newUnauthorized } from '@kubewright/api'
import type { ApiRequest } from '../request/api-request.ts'
import type { UserInfo } from '../request/user-info.ts'
import { type Authenticator, anonymousUser, BadCredentials } from './authenticator.ts'

/**
 * Says who sent a request. One accepted credential is enough, however many others are wrong; only wrong ones make 401. Without any
 * the client is anonymous, and it is authorization that decides what that allows.
 */
export async function authenticate(
  authenticators: readonly Authenticator[],
  request: ApiRequest,
  warn: (text: string) => void = () => undefined,
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
  if (refused) throw newUnauthorized('Unauthorized')
  return anonymousUser
}
