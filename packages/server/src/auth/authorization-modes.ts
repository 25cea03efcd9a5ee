import { mastersGroup, type UserInfo } from '../request/user-info.ts'
import { aggregateMessages } from './authenticator.ts'
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from './authorizer.ts'

/** The values of kube-apiserver's `--authorization-mode` that this server implements. */
export const authorizationModes = ['AlwaysAllow', 'AlwaysDeny', 'Node', 'RBAC'] as const

/** One way to authorize requests. */
export type AuthorizationMode = (typeof authorizationModes)[number]

const everything = ['*']
const allRules: ResolvedRules = {
  resourceRules: [{ verbs: everything, apiGroups: everything, resources: everything }],
  nonResourceRules: [{ verbs: everything, nonResourceURLs: everything }],
  incomplete: false,
  evaluationError: '',
}
const noRules: ResolvedRules = { resourceRules: [], nonResourceRules: [], incomplete: false, evaluationError: '' }

/** Allows every request (apiserver/pkg/authorization/authorizerfactory). */
export const alwaysAllow: Authorizer = {
  authorize: async () => ({ allowed: true, reason: '' }),
  rulesFor: async () => allRules,
}

/** Allows no request. */
export const alwaysDeny: Authorizer = {
  authorize: async () => ({ allowed: false, reason: 'Everything is forbidden.' }),
  rulesFor: async () => noRules,
}

/**
 * Asks the authorizers in order; the first one that allows or denies a request decides. Members of system:masters are allowed everything, whatever the
 * authorizers say. The reasons of a denial are joined, one per line (apiserver/pkg/authorization/union).
 */
export class UnionAuthorizer implements Authorizer {
  readonly #authorizers: readonly Authorizer[]

  constructor(authorizers: readonly Authorizer[]) {
    this.#authorizers = authorizers
  }

  async authorize(attributes: AuthorizationAttributes): Promise<Decision> {
    if (attributes.user.groups.includes(mastersGroup)) return { allowed: true, reason: '' }
    const reasons: string[] = []
    const errors: string[] = []
    for (const authorizer of this.#authorizers) {
      const decision = await authorizer.authorize(attributes)
      if (decision.allowed || decision.denied) return decision
      if (decision.reason !== '') reasons.push(decision.reason)
      if (decision.error !== undefined) errors.push(decision.error)
    }
    return {
      allowed: false,
      reason: reasons.join('\n'),
      ...(errors.length > 0 ? { error: aggregateMessages(errors) } : {}),
    }
  }

  async rulesFor(user: UserInfo, namespace: string): Promise<ResolvedRules> {
    const found = await Promise.all(
      this.#authorizers.map(
        async (authorizer) => (await authorizer.rulesFor?.(user, namespace)) ?? { ...noRules, incomplete: true },
      ),
    )
    return {
      resourceRules: found.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: found.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: found.some(({ incomplete }) => incomplete),
      evaluationError: [...new Set(found.map(({ evaluationError }) => evaluationError))]
        .filter((text) => text !== '')
        .join(', '),
    }
  }
}
