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
  readonly #answers = new Map<string, CelAuthorizationDecision>()
  readonly #open = new Map<string, CelAuthorizationRequest>()

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer
    this.#user = user
  }

  authorize(request: CelAuthorizationRequest): CelAuthorizationDecision {
    const key = JSON.stringify(request)
    const answer = this.#answers.get(key)
    if (answer) return answer
    this.#open.set(key, request)
    throw new CelError('authorization is pending')
  }

  /** Whether checks are pending. The result of the evaluation is then meaningless. */
  get isPending(): boolean {
    return this.#open.size > 0
  }

  async settle(): Promise<void> {
    for (const [key, request] of this.#open) {
      this.#answers.set(key, await this.#ask(request))
      this.#open.delete(key)
    }
  }

  async #ask({ serviceAccount, verb, path, resource }: CelAuthorizationRequest): Promise<CelAuthorizationDecision> {
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
