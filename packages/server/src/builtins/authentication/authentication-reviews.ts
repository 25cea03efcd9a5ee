import { newBadRequest } from '@kubewright/api'
import { formatRFC3339, instantFromMillis } from '@kubewright/base'
import { BadCredentials, type TokenAuthenticator } from '../../auth/authenticator.ts'
import { ownerOfToken } from '../../auth/bearer-token.ts'
import type { UserInfo } from '../../request/user-info.ts'
import type { VirtualCreate } from '../../resource/resource.ts'
import type { BuiltinTable } from '../builtin-resources.ts'

/** What the reviews of authentication.k8s.io ask. */
export interface AuthenticationReviewParts {
  readonly tokens: readonly TokenAuthenticator[]
  /** What a token must be good for when a review does not say. */
  readonly audiences: readonly string[]
}

/** TokenReview (whose token is this) and SelfSubjectReview (who am I). */
export function authenticationReviews(parts: AuthenticationReviewParts): BuiltinTable {
  return {
    'authentication.k8s.io/tokenreviews': { virtual: reviewToken(parts) },
    'authentication.k8s.io/selfsubjectreviews': { virtual: reviewSelf },
  }
}

function reviewToken({ tokens, audiences }: AuthenticationReviewParts): VirtualCreate {
  return async (_context, review, admit) => {
    const spec = (review['spec'] ?? {}) as { token?: string; audiences?: readonly string[] | null }
    if (!spec.token) throw newBadRequest('token is required for TokenReview in authentication')
    await admit()
    review['status'] = await statusOf(tokens, spec.token, spec.audiences?.length ? spec.audiences : audiences)
    return review
  }
}

async function statusOf(
  tokens: readonly TokenAuthenticator[],
  token: string,
  audiences: readonly string[],
): Promise<Record<string, unknown>> {
  try {
    const owner = await ownerOfToken(tokens, token, audiences)
    return { authenticated: true, user: userFields(owner.user), audiences: owner.audiences }
  } catch (error) {
    if (!(error instanceof BadCredentials)) throw error
    return { user: {}, error: error.message }
  }
}

const reviewSelf: VirtualCreate = async (context, { apiVersion, kind }, admit) => {
  await admit()
  const creationTimestamp = formatRFC3339(instantFromMillis(context.receivedAt))
  return { apiVersion, kind, metadata: { creationTimestamp }, status: { userInfo: userFields(context.user) } }
}

/** A user as the API shows it: what is empty is left out. */
export function userFields({ name, uid, groups, extra }: UserInfo): Record<string, unknown> {
  return {
    ...(name === '' ? {} : { username: name }),
    ...(uid ? { uid } : {}),
    ...(groups.length > 0 ? { groups } : {}),
    ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
  }
}
