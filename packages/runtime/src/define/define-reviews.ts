import type { Defined, Logger } from '@kubewright/base'
import type { Reader } from '@kubewright/client'
import type { AccessRule } from '../controller/access-rule.ts'
import { checkRules } from './check-definition.ts'
import { checkWebhookPath } from './webhook-registration.ts'

/** The parts that all reviews of users have. */
interface UserReview {
  /** Reads from the API server, not from a cache. */
  readonly client: Reader
  readonly now: () => Date
  readonly log: Logger
  /** Aborts when the API server no longer waits for the response. */
  readonly signal: AbortSignal
}

/** A user of the API server. */
export interface ReviewedUser {
  readonly name: string
  readonly groups?: readonly string[] | undefined
  readonly uid?: string | undefined
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** A token that the API server asks about. */
export interface TokenReview extends UserReview {
  readonly token: string
  /** The audiences for which the token must be valid. Empty for those of the API server. */
  readonly audiences: readonly string[]
}

/** The user of a valid token. */
export interface TokenUser extends ReviewedUser {
  /** The audiences, among those of the review, for which the token is valid. @default those of the API server */
  readonly audiences?: readonly string[] | undefined
}

/** Options of {@link defineTokenReview}. */
export interface TokenReviewOptions {
  /** Returns the user of a token, or undefined when it is unknown. The message of a thrown error is logged by the API server. */
  authenticate(review: TokenReview): TokenUser | undefined | Promise<TokenUser | undefined>
  /** Permissions that the webhook needs for its reads with `client`. */
  readonly rbac?: readonly AccessRule[] | undefined
}

/** The definition of a webhook that authenticates tokens. */
export interface TokenReviewWebhook {
  readonly type: 'token'
  readonly name: string
  readonly path: string
  readonly kind: undefined
  readonly authenticate: TokenReviewOptions['authenticate']
  readonly defaulting: undefined
  readonly validation: undefined
  readonly rbac: readonly AccessRule[]
}

/** A request that the API server asks about. Either `resource` or `nonResource` is set. */
export interface AccessReview extends UserReview {
  readonly user: Defined<Pick<ReviewedUser, 'name' | 'groups'>> & ReviewedUser
  readonly resource:
    | {
        readonly verb: string
        readonly group: string
        readonly version: string
        readonly resource: string
        readonly subresource: string
        readonly namespace: string
        readonly name: string
      }
    | undefined
  readonly nonResource: { readonly verb: string; readonly path: string } | undefined
}

/** A decision: `no-opinion` leaves it to the other authorizers of the API server. */
export type AccessDecision = 'allow' | 'deny' | 'no-opinion'

/** Options of {@link defineAccessReview}. */
export interface AccessReviewOptions {
  /** Decides about a request. A thrown error counts as `no-opinion`, and its message is reported. */
  authorize(review: AccessReview): AccessAnswer | Promise<AccessAnswer>
  /** Permissions that the webhook needs for its reads with `client`. */
  readonly rbac?: readonly AccessRule[] | undefined
}

/** A decision, optionally with a reason that the client sees. */
export type AccessAnswer = AccessDecision | { readonly decision: AccessDecision; readonly reason: string }

/** The definition of a webhook that authorizes requests. */
export interface AccessReviewWebhook {
  readonly type: 'access'
  readonly name: string
  readonly path: string
  readonly kind: undefined
  readonly authorize: AccessReviewOptions['authorize']
  readonly defaulting: undefined
  readonly validation: undefined
  readonly rbac: readonly AccessRule[]
}

/**
 * Defines a webhook that authenticates bearer tokens for the API server, at a path of the webhook server. The API server
 * calls it when its `--authentication-token-webhook-config-file` names the address; no object in the cluster registers
 * it.
 */
export function defineTokenReview(path: string, options: TokenReviewOptions): TokenReviewWebhook {
  return Object.freeze({
    type: 'token',
    ...common(path, options.rbac),
    authenticate: (review: TokenReview) => options.authenticate(review),
  })
}

/**
 * Defines a webhook that authorizes requests for the API server, at a path of the webhook server. The API server calls
 * it when its `--authorization-webhook-config-file` or `--authorization-config` names the address; no object in the
 * cluster registers it.
 */
export function defineAccessReview(path: string, options: AccessReviewOptions): AccessReviewWebhook {
  return Object.freeze({
    type: 'access',
    ...common(path, options.rbac),
    authorize: (review: AccessReview) => options.authorize(review),
  })
}

function common(path: string, rbac: readonly AccessRule[] = []) {
  checkWebhookPath(`webhook "${path}"`, 'path', path)
  checkRules(`webhook "${path}"`, rbac)
  return {
    name: path.slice(1),
    path,
    kind: undefined,
    defaulting: undefined,
    validation: undefined,
    rbac: Object.freeze([...rbac]),
  }
}
