import { newBadRequest } from '@kubewright/api'
import type { AttachedAccess } from '../../../auth/access-control.ts'
import { BadCredentials } from '../../../auth/authenticator.ts'
import { ownerOfToken } from '../../../auth/bearer-token.ts'
import type { VirtualCreate } from '../../../resource/resource.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { userFields } from '../user-fields.ts'

/** TokenReviews, which resolve a token to its user (pkg/registry/authentication/tokenreview). */
export const tokenReviews: BuiltinDefinition = defineBuiltin({
  group: 'authentication.k8s.io',
  resource: 'tokenreviews',
  withServer: ({ access }) => (access ? { virtual: reviewToken(access) } : {}),
})

function reviewToken(access: AttachedAccess): VirtualCreate {
  return async (_context, review, admit) => {
    const spec = (review['spec'] ?? {}) as {
      token?: string | undefined
      audiences?: readonly string[] | null | undefined
    }
    if (!spec.token) throw newBadRequest('token is required for TokenReview in authentication')
    await admit()
    review['status'] = await statusOf(access, spec.token, spec.audiences?.length ? spec.audiences : access.audiences)
    return review
  }
}

async function statusOf(
  { tokenAuthenticators }: AttachedAccess,
  token: string,
  audiences: readonly string[],
): Promise<Record<string, unknown>> {
  try {
    const owner = await ownerOfToken(tokenAuthenticators, token, audiences)
    return { authenticated: true, user: userFields(owner.user), audiences: owner.audiences }
  } catch (error) {
    if (!(error instanceof BadCredentials)) throw error
    return { user: {}, error: error.message }
  }
}
