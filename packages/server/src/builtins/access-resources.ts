import type { AttachedAccess } from '../auth/access-control.ts'
import { authenticationReviews } from './authentication/authentication-reviews.ts'
import { authorizationReviews } from './authorization/authorization-reviews.ts'
import type { BuiltinParts } from './builtin-parts.ts'
import type { BuiltinTable } from './builtin-resources.ts'
import { certificateSigningRequests } from './certificates/certificate-signing-request/certificate-signing-request.ts'
import { tokenSubresource } from './core/service-account/token-request.ts'
import { rbacResources } from './rbac/rbac-resources.ts'

/** The resources of authentication, authorization and RBAC, which need the access control of the server. */
export function accessResources(parts: BuiltinParts, access: AttachedAccess): BuiltinTable {
  const { authorizer, audiences, tokenAuthenticators, serviceAccountTokens, escalation } = access
  return {
    ...rbacResources(escalation),
    ...authenticationReviews({ tokens: tokenAuthenticators, audiences }),
    ...authorizationReviews(authorizer),
    ...certificateSigningRequests(),
    '/serviceaccounts': { subresources: { token: tokenSubresource(parts, serviceAccountTokens) } },
  }
}
