import { ApiError, type StatusReason } from '@kubewright/api'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission/admission.ts'
import type { Authorizer } from '../../auth/authorizer.ts'
import type { ObjectAccess } from '../../registry/object-access.ts'
import type { ObjectLookup } from '../../registry/object-lookup.ts'
import { andThen } from '../../request/awaitable.ts'
import { admissionForbidden } from '../admission-forbidden.ts'
import { DeferredAuthorizer } from '../expressions/deferred-authorizer.ts'
import { configuresAdmission, isExcludedReview } from '../requests/exempt-resources.ts'
import { matchRequest } from '../requests/match-request.ts'
import { requestFacts } from '../requests/review-request.ts'
import { type ReviewedObjects, ReviewedRequest } from '../requests/reviewed-request.ts'
import { collectParams, paramResource } from './collect-params.ts'
import { type CompiledPolicy, compilePolicy } from './compile-policy.ts'
import { evaluatePolicy, type PolicyResult } from './evaluate-policy.ts'
import { namespaceObject } from './namespace-object.ts'
import * as sources from './policy-source.ts'

/** The parts of the server that admission policies use. */
export interface PolicyParts extends ObjectAccess {
  readonly authorizer: Authorizer
  readonly lookup: ObjectLookup
}

type BindingSpec = admission.ValidatingAdmissionPolicyBindingSpec
type BoundPolicy = sources.BoundPolicy<CompiledPolicy, BindingSpec>
type PolicyBinding = sources.PolicyBinding<BindingSpec>

/** A denial by a policy. */
interface Denial {
  readonly policy: string
  readonly binding?: string | undefined
  readonly message: string
  readonly reason?: string | undefined
}

const maxAnnotation = 10 * 1024
const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 }

/** Evaluates ValidatingAdmissionPolicies and enforces the actions of their bindings (admission/plugin/policy/validating). */
export function validatingPolicies(parts: PolicyParts): AdmissionPlugin {
  const source = new sources.PolicySource<CompiledPolicy, BindingSpec>(parts, {
    policies: 'validatingadmissionpolicies',
    bindings: 'validatingadmissionpolicybindings',
    compile: compilePolicy,
  })
  const evaluateAll = async (policies: readonly BoundPolicy[], attributes: AdmissionAttributes): Promise<void> => {
    const review = new PolicyReview(parts, attributes)
    for (const policy of policies) await review.apply(policy)
    review.finish()
  }
  return {
    name: 'ValidatingAdmissionPolicy',
    validate: (attributes) => {
      const { resource } = attributes
      if (isExcludedReview(resource) || configuresAdmission(resource)) return undefined
      return andThen(source.list(), (policies) =>
        policies.length === 0 ? undefined : evaluateAll(policies, attributes),
      )
    },
  }
}

/** The evaluation of all policies for one request. */
class PolicyReview {
  readonly #parts: PolicyParts
  readonly #request: ReviewedRequest
  readonly #authorizer: DeferredAuthorizer
  readonly #denials: Denial[] = []

  constructor(parts: PolicyParts, attributes: AdmissionAttributes) {
    this.#parts = parts
    this.#request = new ReviewedRequest(attributes, parts.resources)
    this.#authorizer = new DeferredAuthorizer(parts.authorizer, attributes.context.user)
  }

  async apply(policy: BoundPolicy): Promise<void> {
    const request = this.#request
    const misconfigured = (error: unknown, binding?: PolicyBinding): void => {
      if (policy.compiled.failurePolicy === 'Ignore') return
      const message = `failed to configure ${binding ? 'binding' : 'policy'}: ${(error as Error).message}`
      this.#denials.push({ policy: policy.name, ...(binding ? { binding: binding.name } : {}), message })
    }
    let matched: Awaited<ReturnType<typeof matchRequest>>
    let params: ReturnType<typeof paramResource> | undefined
    try {
      matched = await matchRequest(request, policy.criteria, this.#parts.lookup)
      if (!matched) return
      params = policy.spec.paramKind && paramResource(this.#parts, policy.spec.paramKind)
    } catch (error) {
      misconfigured(error)
      return
    }
    const annotations = new Map<string, Set<string>>()
    for (const binding of policy.bindings) {
      let found: readonly (object | null)[]
      let objects: ReviewedObjects
      try {
        if (!(await matchRequest(request, binding.criteria, this.#parts.lookup))) continue
        try {
          objects = await request.objectsIn(matched)
        } catch (error) {
          misconfigured(error)
          continue
        }
        found = await collectParams(this.#parts, params, binding.spec.paramRef, request.namespace)
      } catch (error) {
        misconfigured(error, binding)
        continue
      }
      const input = {
        request,
        facts: requestFacts(request, matched),
        objects,
        namespaceObject: await namespaceObject(request, this.#parts.lookup),
        authorizer: this.#authorizer,
      }
      for (const param of found) {
        const result = await evaluatePolicy(policy.compiled, { ...input, params: param })
        this.#take(policy, binding, result, annotations)
      }
    }
    for (const [key, values] of annotations) this.#annotate(`${policy.name}/${key}`, [...values].join(', '))
  }

  /** Throws when a policy denied the request. */
  finish(): void {
    const denial = this.#denials[0]
    if (!denial) return
    const binding = denial.binding === undefined ? '' : ` with binding '${denial.binding}'`
    const message = `ValidatingAdmissionPolicy '${denial.policy}'${binding} denied request: ${denial.message}`
    const { status } = admissionForbidden(this.#request.attributes, message)
    const reason = (denial.reason || 'Invalid') as StatusReason
    const details = { ...status.details, causes: [{ message }] }
    throw new ApiError({ ...status, reason, code: codes[reason] ?? 422, details })
  }

  #take(
    policy: BoundPolicy,
    binding: PolicyBinding,
    result: PolicyResult,
    annotations: Map<string, Set<string>>,
  ): void {
    const from = { policy: policy.name, binding: binding.name }
    const { validationActions = [] } = binding.spec
    for (const [expressionIndex, { denied, message, reason }] of result.decisions.entries()) {
      if (!denied) continue
      for (const action of validationActions) {
        if (action === 'Deny') this.#denials.push({ ...from, message, reason })
        else if (action === 'Audit') {
          const failure = { message, ...from, expressionIndex, validationActions }
          this.#annotate('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]))
        } else if (action === 'Warn') {
          this.#request.attributes.context.warn(
            `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}': ${message}`,
          )
        }
      }
    }
    for (const { key, value, error } of result.annotations) {
      if (error !== undefined) this.#denials.push({ ...from, message: error })
      else if (value !== undefined) {
        const values = annotations.get(key) ?? new Set()
        annotations.set(key, values.add(value.slice(0, maxAnnotation)))
      }
    }
  }

  #annotate(key: string, value: string): void {
    const { audit } = this.#request.attributes.context
    if (!audit.has(key)) audit.set(key, value)
  }
}
