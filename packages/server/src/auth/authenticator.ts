import type { ApiRequest } from '../http/api-request.ts'
import type { UserInfo } from '../request-context.ts'

/** Says who sent a request: undefined when it shows no credentials that this one knows; throws when they are wrong. */
export type Authenticator = (request: ApiRequest) => Promise<UserInfo | undefined>

export const anonymousUser: UserInfo = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
