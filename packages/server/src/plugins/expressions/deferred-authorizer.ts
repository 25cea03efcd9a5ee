import {
  type CelAuthorizationDecision,
  type CelAuthorizationRequest,
  type CelAuthorizer,
  CelError,
} from '@kubewright/cel'
import { type AuthorizationAttributes, type Authorizer, resourceAttributes } from '../../auth/authorizer.ts'
import { serviceAccountGroups, serviceAccountUser } from '../../auth/service-account-user.ts'
import type { UserInfo } from '../../request/user-info.ts'

/**
 * Lets synchronous expressions use the asynchronous authorizer. A check without a known decision aborts the evaluation.
 * {@link DeferredAuthorizer.settle} then resolves all pending checks, and the caller evaluates the expression again. Each check is made
 * once.
 */
export class DeferredAuthorizer implements CelAuthorizer {
  readonly #authorizer: Authorizer
  readonly #user: UserInfo
  readonly #decisions = new Map<string, CelAuthorizationDecision>()
  readonly #pending = new Map<string, CelAuthorizationRequest>()

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer
    this.#user = user
  }

  /** The decision of the authorizer. Throws a CelError, which ends the evaluation, while the decision is unknown. */
  authorize(request: CelAuthorizationRequest): CelAuthorizationDecision {
    const key = JSON.stringify(request)
    const decision = this.#decisions.get(key)
    if (decision) return decision
    this.#pending.set(key, request)
    throw new CelError('authorization is pending')
  }

  /** Whether checks are pending. The result of the evaluation is then meaningless. */
  get isPending(): boolean {
    return this.#pending.size > 0
  }

  /** Resolves all pending checks. An authorizer error becomes part of the decision. */
  async settle(): Promise<void> {
    for (const [key, request] of this.#pending) {
      this.#decisions.set(key, await this.#decide(request))
      this.#pending.delete(key)
    }
  }

  async #decide({ serviceAccount, verb, path, resource }: CelAuthorizationRequest): Promise<CelAuthorizationDecision> {
    const user = serviceAccount
      ? { name: serviceAccountUser(serviceAccount), groups: serviceAccountGroups(serviceAccount.namespace) }
      : this.#user
    const about: AuthorizationAttributes = resource
      ? resourceAttributes(user, { ...resource, verb })
      : { ...resourceAttributes(user, { verb, group: '', resource: '' }), version: '', isResource: false, path }
    try {
      return await this.#authorizer.authorize(about)
    } catch (error) {
      return { allowed: false, reason: '', error: (error as Error).message }
    }
  }
}
