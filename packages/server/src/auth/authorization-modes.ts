import type { Awaitable } from '@kubewright/base'
import { aggregateMessages } from '../request/aggregate-messages.ts'
import { mastersGroup, type UserInfo } from '../request/user-info.ts'
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
  authorize: () => ({ allowed: true, reason: '' }),
  rulesFor: async () => allRules,
}

/** Allows no request. */
export const alwaysDeny: Authorizer = {
  authorize: () => ({ allowed: false, reason: 'Everything is forbidden.' }),
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

  authorize(attributes: AuthorizationAttributes): Awaitable<Decision> {
    if (attributes.user.groups.includes(mastersGroup)) return { allowed: true, reason: '' }
    return this.#decide(attributes, 0, [])
  }

  /** Asks the authorizers from the given one on. `undecided` are the decisions of those before it. */
  #decide(attributes: AuthorizationAttributes, first: number, undecided: Decision[]): Awaitable<Decision> {
    for (let i = first; i < this.#authorizers.length; i++) {
      const decision = this.#authorizers[i]!.authorize(attributes)
      if (decision instanceof Promise) {
        return decision.then((late) => {
          if (late.allowed || late.denied) return late
          return this.#decide(attributes, i + 1, [...undecided, late])
        })
      }
      if (decision.allowed || decision.denied) return decision
      undecided.push(decision)
    }
    const errors = undecided.flatMap(({ error }) => error ?? [])
    return {
      allowed: false,
      reason: undecided.flatMap(({ reason }) => (reason === '' ? [] : [reason])).join('\n'),
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
