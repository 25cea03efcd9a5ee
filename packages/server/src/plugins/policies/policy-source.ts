import type { Awaitable } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import type { ResourceCache } from '../../cache/resource-cache.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import type { MatchCriteria } from '../requests/match-request.ts'
import { type CompiledPolicy, compilePolicy, criteriaOf } from './compile-policy.ts'

/** A binding of a policy. */
export interface PolicyBinding {
  readonly name: string
  readonly spec: admission.ValidatingAdmissionPolicyBindingSpec
  readonly criteria: MatchCriteria
}

/** A policy that has bindings. */
export interface BoundPolicy {
  readonly name: string
  readonly spec: admission.ValidatingAdmissionPolicySpec
  readonly criteria: MatchCriteria
  readonly compiled: CompiledPolicy
  readonly bindings: readonly PolicyBinding[]
}

interface Caches {
  readonly policies: ResourceCache
  readonly bindings: ResourceCache
}

const group = 'admissionregistration.k8s.io'

/** The policies that have bindings, ordered by name. Each version of a policy is compiled once. */
export class PolicySource {
  readonly #parts: ObjectAccess
  readonly #compiled = new WeakMap<StoredObject, Omit<BoundPolicy, 'bindings'>>()
  readonly #bindings = new WeakMap<StoredObject, PolicyBinding>()
  #caches: Caches | undefined
  #seen = ''
  #bound: readonly BoundPolicy[] = []

  constructor(parts: ObjectAccess) {
    this.#parts = parts
  }

  /** All bound policies in the current state of the caches. */
  list(): Awaitable<readonly BoundPolicy[]> {
    if (this.#caches) return this.#listed(this.#caches)
    return this.#open().then((caches) => (caches ? this.#listed((this.#caches = caches)) : []))
  }

  #listed({ policies, bindings }: Caches): readonly BoundPolicy[] {
    const state = `${policies.epoch} ${policies.end} ${bindings.epoch} ${bindings.end}`
    if (state !== this.#seen) {
      this.#bound = this.#bind(policies, bindings)
      this.#seen = state
    }
    return this.#bound
  }

  async #open(): Promise<Caches | undefined> {
    const { resources, registry } = this.#parts
    const policies = resources.find(group, 'v1', 'validatingadmissionpolicies')
    const bindings = resources.find(group, 'v1', 'validatingadmissionpolicybindings')
    if (!policies || !bindings) return undefined
    return {
      policies: await registry.feed.cache(policies.storage.prefix),
      bindings: await registry.feed.cache(bindings.storage.prefix),
    }
  }

  #bind(policies: ResourceCache, bindings: ResourceCache): BoundPolicy[] {
    const byPolicy = new Map<string, PolicyBinding[]>()
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

  #binding(stored: StoredObject): PolicyBinding {
    let binding = this.#bindings.get(stored)
    if (!binding) {
      const spec = (stored.object['spec'] ?? {}) as PolicyBinding['spec']
      binding = { name: stored.object.metadata.name ?? '', spec, criteria: criteriaOf(spec.matchResources) }
      this.#bindings.set(stored, binding)
    }
    return binding
  }

  #policy(stored: StoredObject): Omit<BoundPolicy, 'bindings'> {
    let policy = this.#compiled.get(stored)
    if (!policy) {
      const spec = (stored.object['spec'] ?? {}) as BoundPolicy['spec']
      const criteria = criteriaOf(spec.matchConstraints)
      policy = {
        name: stored.object.metadata.name ?? '',
        spec,
        // A policy without resource rules matches nothing.
        criteria: { ...criteria, rules: criteria.rules ?? [] },
        compiled: compilePolicy(spec),
      }
      this.#compiled.set(stored, policy)
    }
    return policy
  }
}
