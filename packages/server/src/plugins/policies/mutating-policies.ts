import {
  ApiError,
  applyJsonPatch,
  decodeJsonPatch,
  mergeConfiguration,
  PatchTestError,
  type StatusReason,
} from '@kubewright/api'
import { CaughtError, deepCopy, deepEqual, errorText, goQuote } from '@kubewright/base'
import { CelJSONPatch, CelList, CelObject, toNative } from '@kubewright/cel'
import type { AdmissionAttributes, AdmissionPlugin, MutationRound } from '../../admission/admission.ts'
import { andThen } from '../../request/awaitable.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Resource } from '../../resource/resource.ts'
import { admissionForbidden } from '../admission-forbidden.ts'
import { type Condition, type ExpressionInput, evaluateConditions, expressionBudget } from '../expressions/condition.ts'
import { DeferredAuthorizer } from '../expressions/deferred-authorizer.ts'
import { matchesConditions } from '../expressions/match-conditions.ts'
import { type Reinvocation, reinvocationOf } from '../reinvocation.ts'
import { configuresAdmission, isExcludedReview } from '../requests/exempt-resources.ts'
import { matchRequest } from '../requests/match-request.ts'
import { requestFacts } from '../requests/review-request.ts'
import { ReviewedRequest } from '../requests/reviewed-request.ts'
import { collectParams, paramResource } from './collect-params.ts'
import { type CompiledMutatingPolicy, compileMutatingPolicy } from './compile-mutating-policy.ts'
import { namespaceObject } from './namespace-object.ts'
import { type BoundPolicy, type PolicyBinding, PolicySource } from './policy-source.ts'
import type { PolicyParts } from './validating-policies.ts'

const pluginName = 'MutatingAdmissionPolicy'

/** Applies the mutations of MutatingAdmissionPolicies in the order of their names (admission/plugin/policy/mutating). */
export function mutatingPolicies(parts: PolicyParts): AdmissionPlugin {
  const source = new PolicySource<CompiledMutatingPolicy>(parts, {
    policies: 'mutatingadmissionpolicies',
    bindings: 'mutatingadmissionpolicybindings',
    compile: compileMutatingPolicy,
  })
  const applyAll = async (
    policies: readonly BoundPolicy<CompiledMutatingPolicy>[],
    attributes: AdmissionAttributes,
    round: MutationRound,
  ): Promise<void> => {
    const review = new MutatingReview(parts, attributes, round)
    for (const policy of policies) await review.apply(policy)
    review.finish()
  }
  return {
    name: pluginName,
    mutate: (attributes, round) => {
      const { resource, operation } = attributes
      if (operation !== 'CREATE' && operation !== 'UPDATE') return undefined
      if (isExcludedReview(resource) || configuresAdmission(resource)) return undefined
      return andThen(source.list(), (policies) =>
        policies.length === 0 ? undefined : applyAll(policies, attributes, round),
      )
    },
  }
}

/** The mutations of all policies for one request and round. */
class MutatingReview {
  readonly #parts: PolicyParts
  readonly #request: ReviewedRequest
  readonly #authorizer: DeferredAuthorizer
  readonly #round: MutationRound
  readonly #state: Reinvocation
  readonly #failures: { readonly message: string; readonly reason: StatusReason | undefined }[] = []

  constructor(parts: PolicyParts, attributes: AdmissionAttributes, round: MutationRound) {
    this.#parts = parts
    this.#request = new ReviewedRequest(attributes, parts.resources)
    this.#authorizer = new DeferredAuthorizer(parts.authorizer, attributes.context.user)
    this.#round = round
    this.#state = reinvocationOf(round, pluginName)
    // Another plugin changed the object after the first round of policies.
    if (round.isRepeat && !deepEqual(this.#state.output, attributes.object)) this.#state.changed()
  }

  async apply(policy: BoundPolicy<CompiledMutatingPolicy>): Promise<void> {
    const request = this.#request
    let matched: Resource | undefined
    let params: Resource | undefined
    try {
      matched = await matchRequest(request, policy.criteria, this.#parts.lookup)
      if (!matched) return
      params = policy.spec.paramKind && paramResource(this.#parts, policy.spec.paramKind)
    } catch (error) {
      this.#fail(policy, undefined, `failed to configure policy: ${errorText(error)}`)
      return
    }
    for (const binding of policy.bindings) {
      let found: readonly (object | null)[]
      try {
        if (!(await matchRequest(request, binding.criteria, this.#parts.lookup))) continue
        found = await collectParams(this.#parts, params, binding.spec.paramRef, request.namespace)
      } catch (error) {
        this.#fail(policy, binding, `failed to configure binding: ${errorText(error)}`)
        continue
      }
      for (const param of found) await this.#invoke(policy, binding, matched, param)
    }
  }

  /** Keeps the object for the second round. Throws when a policy failed. */
  finish(): void {
    const [first] = this.#failures
    if (first) {
      const { status } = admissionForbidden(this.#request.attributes, first.message)
      const causes = this.#failures.map(({ message }) => ({ message }))
      const { message, reason = 'Forbidden' } = first
      throw new ApiError({ ...status, message, reason, details: { ...status.details, causes } })
    }
    this.#state.output = deepCopy(this.#request.attributes.object) as MutableObject | undefined
  }

  async #invoke(
    policy: BoundPolicy<CompiledMutatingPolicy>,
    binding: PolicyBinding,
    matched: Resource,
    params: object | null,
  ): Promise<void> {
    const { name, compiled } = policy
    const input = await this.#input(matched, params, compiled)
    try {
      const unscoped = { ...input, namespaceObject: null }
      if (!(await matchesConditions(compiled.matchConditions, unscoped, compiled.failurePolicy))) return
    } catch (error) {
      this.#fail(policy, binding, errorText(error), 'Invalid')
      return
    }
    const { metadata } = (params ?? {}) as Partial<MutableObject>
    const id = JSON.stringify([name, binding.name, metadata?.namespace, metadata?.name])
    if (this.#round.isRepeat && !this.#state.includes(id)) return
    for (const mutation of compiled.mutations) {
      const current = await this.#input(matched, params, compiled)
      const { object } = current.objects
      if (!object) continue
      try {
        await this.#request.replaceObject(matched, await mutated(mutation, current, object, matched))
      } catch (error) {
        if (!(error instanceof CaughtError)) throw error
        this.#fail(policy, binding, error.message, 'Invalid')
      }
    }
    if (!deepEqual(input.objects.object, (await this.#request.objectsIn(matched)).object)) {
      this.#state.changed()
      this.#round.repeat()
    }
    // After the change of its own: a policy is not applied again for what it changed itself.
    if (compiled.reinvokes) this.#state.invoked(id)
  }

  async #input(
    matched: Resource,
    params: object | null,
    { variables }: CompiledMutatingPolicy,
  ): Promise<ExpressionInput> {
    return {
      request: this.#request,
      facts: requestFacts(this.#request, matched),
      objects: await this.#request.objectsIn(matched),
      namespaceObject: await namespaceObject(this.#request, this.#parts.lookup),
      authorizer: this.#authorizer,
      params,
      variables,
    }
  }

  #fail(
    { name, compiled }: BoundPolicy<CompiledMutatingPolicy>,
    binding: PolicyBinding | undefined,
    why: string,
    reason?: StatusReason,
  ): void {
    if (compiled.failurePolicy === 'Ignore') return
    const from = binding ? `policy '${name}' with binding '${binding.name}'` : `policy ${goQuote(name)}`
    this.#failures.push({ message: `${from} denied request: ${why}`, reason })
  }
}

/** The object after one mutation. Throws a CaughtError when the expression fails or its result does not fit the object. */
async function mutated(
  { patchType, condition }: CompiledMutatingPolicy['mutations'][number],
  input: ExpressionInput,
  object: MutableObject,
  { kind }: Resource,
): Promise<MutableObject> {
  const value = await resultOf(condition, input)
  if (patchType === 'ApplyConfiguration') {
    if (!(value instanceof CelObject))
      throw new CaughtError('unsupported return type from ApplyConfiguration expression')
    checkTypes(value)
    const config = { ...value.toNative(), apiVersion: object.apiVersion, kind: object.kind }
    try {
      return mergeConfiguration(kind.schema, object, config) as MutableObject
    } catch (error) {
      throw new CaughtError(`error applying patch: ${(error as Error).message}`, { cause: error })
    }
  }
  const operations = value instanceof CelList ? value.toArray().map(operationOf) : []
  try {
    return applyJsonPatch(object, decodeJsonPatch(operations, 'Ignore')) as MutableObject
  } catch (error) {
    // A patch whose test fails changes nothing.
    if (error instanceof PatchTestError) return object
    throw new CaughtError(`JSON Patch: ${(error as Error).message}`, { cause: error })
  }
}

async function resultOf(condition: Condition, input: ExpressionInput): Promise<unknown> {
  const { results } = await evaluateConditions([condition], input, expressionBudget)
  const [result] = results
  if (result?.error !== undefined) throw new CaughtError(result.error)
  return result?.value
}

function operationOf(value: unknown): Record<string, unknown> {
  if (!(value instanceof CelJSONPatch)) {
    throw new CaughtError('type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch')
  }
  const { op, path, from, value: content } = value
  if (content instanceof CelObject) checkTypes(content)
  return { op, path, ...(from === '' ? {} : { from }), ...(content === undefined ? {} : { value: toNative(content) }) }
}

function checkTypes(value: CelObject): void {
  const problems = value.typeProblems()
  if (problems.length > 0) throw new CaughtError(`type mismatch: ${problems.join('\n')}`)
}
