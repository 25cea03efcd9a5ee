import type { Awaitable } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import type { ResourceCache } from '../../cache/resource-cache.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import type { MatchCriteria } from '../requests/match-request.ts'
import { criteriaOf } from './compile-policy.ts'

/** What validating and mutating policies have in common. */
export type PolicySpec = Pick<admission.ValidatingAdmissionPolicySpec, 'matchConstraints' | 'paramKind'>

/** What the bindings of validating and mutating policies have in common. */
export type BindingSpec = Omit<admission.ValidatingAdmissionPolicyBindingSpec, 'validationActions'>

/** A binding of a policy. */
export interface PolicyBinding<Spec extends BindingSpec = BindingSpec> {
  readonly name: string
  readonly spec: Spec
  readonly criteria: MatchCriteria
}

/** A policy that has bindings. */
export interface BoundPolicy<Compiled, Spec extends BindingSpec = BindingSpec> {
  readonly name: string
  readonly spec: PolicySpec
  readonly criteria: MatchCriteria
  readonly compiled: Compiled
  readonly bindings: readonly PolicyBinding<Spec>[]
}

/** The resources of one type of policies, and how their expressions are compiled. */
export interface PolicyType<Compiled> {
  readonly policies: string
  readonly bindings: string
  readonly compile: (spec: object) => Compiled
}

interface Caches {
  readonly policies: ResourceCache
  readonly bindings: ResourceCache
}

const group = 'admissionregistration.k8s.io'

/** The policies that have bindings, ordered by name. Each version of a policy is compiled once. */
export class PolicySource<Compiled, Spec extends BindingSpec = BindingSpec> {
  readonly #parts: ObjectAccess
  readonly #type: PolicyType<Compiled>
  readonly #compiled = new WeakMap<StoredObject, Omit<BoundPolicy<Compiled>, 'bindings'>>()
  readonly #bindings = new WeakMap<StoredObject, PolicyBinding<Spec>>()
  #caches: Caches | undefined
  #seen = ''
  #bound: readonly BoundPolicy<Compiled, Spec>[] = []

  constructor(parts: ObjectAccess, type: PolicyType<Compiled>) {
    this.#parts = parts
    this.#type = type
  }

  /** All bound policies in the current state of the caches. */
  list(): Awaitable<readonly BoundPolicy<Compiled, Spec>[]> {
    if (this.#caches) return this.#listed(this.#caches)
    return this.#open().then((caches) => (caches ? this.#listed((this.#caches = caches)) : []))
  }

  #listed({ policies, bindings }: Caches): readonly BoundPolicy<Compiled, Spec>[] {
    const state = `${policies.epoch} ${policies.end} ${bindings.epoch} ${bindings.end}`
    if (state !== this.#seen) {
      this.#bound = this.#bind(policies, bindings)
      this.#seen = state
    }
    return this.#bound
  }

  async #open(): Promise<Caches | undefined> {
    const { resources, registry } = this.#parts
    const policies = resources.find(group, 'v1', this.#type.policies)
    const bindings = resources.find(group, 'v1', this.#type.bindings)
    if (!policies || !bindings) return undefined
    return {
      policies: await registry.feed.cache(policies.storage.prefix),
      bindings: await registry.feed.cache(bindings.storage.prefix),
    }
  }

  #bind(policies: ResourceCache, bindings: ResourceCache): BoundPolicy<Compiled, Spec>[] {
    const byPolicy = new Map<string, PolicyBinding<Spec>[]>()
    for (const stored of bindings.list(bindings.prefix)) {
      const binding = this.#binding(stored)
      const { policyName = '' } = binding.spec
      const others = byPolicy.get(policyName)
      if (others) others.push(binding)
      else byPolicy.set(policyName, [binding])
    }
    return policies.list(policies.prefix).flatMap((stored) => {
      const bound = byPolicy.get(stored.object.metadata.name ?? '')
      return bound ? [{ ...this.#policy(stored), bindings: bound }] : []
    })
  }

  #binding(stored: StoredObject): PolicyBinding<Spec> {
    let binding = this.#bindings.get(stored)
    if (!binding) {
      const spec = (stored.object['spec'] ?? {}) as Spec
      binding = { name: stored.object.metadata.name ?? '', spec, criteria: criteriaOf(spec.matchResources) }
      this.#bindings.set(stored, binding)
    }
    return binding
  }

  #policy(stored: StoredObject): Omit<BoundPolicy<Compiled>, 'bindings'> {
    let policy = this.#compiled.get(stored)
    if (!policy) {
      const spec = (stored.object['spec'] ?? {}) as PolicySpec
      const criteria = criteriaOf(spec.matchConstraints)
      policy = {
        name: stored.object.metadata.name ?? '',
        spec,
        // A policy without resource rules matches nothing.
        criteria: { ...criteria, rules: criteria.rules ?? [] },
        compiled: this.#type.compile(spec),
      }
      this.#compiled.set(stored, policy)
    }
    return policy
  }
}
