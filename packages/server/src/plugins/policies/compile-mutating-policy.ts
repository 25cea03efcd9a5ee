import { admissionEnvironment } from '../../builtins/admissionregistration/matching/admission-expressions.ts'
import type { MutatingPolicySpec } from '../../builtins/admissionregistration/mutating-admission-policy/mutating-admission-policy-spec.ts'
import { type Condition, compileCondition } from '../expressions/condition.ts'
import { compileVariables } from './compile-policy.ts'

/** The compiled expressions of a MutatingAdmissionPolicy. */
export interface CompiledMutatingPolicy {
  readonly failurePolicy: string
  /** Whether the policy is applied again when a later plugin has changed the object. */
  readonly reinvokes: boolean
  readonly matchConditions: readonly Condition[]
  readonly variables: ReadonlyMap<string, Condition>
  readonly mutations: readonly { readonly patchType: string; readonly condition: Condition }[]
}

/** Compiles the expressions of a policy. Those that do not compile fail when they are evaluated. */
export function compileMutatingPolicy(spec: MutatingPolicySpec): CompiledMutatingPolicy {
  const params = spec.paramKind !== undefined
  const { types, variables } = compileVariables(spec.variables, params)
  const plain = admissionEnvironment({ params, authorizer: true, variables: types })
  const patching = admissionEnvironment({ params, authorizer: true, variables: types, patchTypes: true })
  return {
    failurePolicy: spec.failurePolicy ?? 'Fail',
    reinvokes: spec.reinvocationPolicy === 'IfNeeded',
    matchConditions: (spec.matchConditions ?? []).map(({ expression }) => compileCondition(expression, plain)),
    variables,
    mutations: (spec.mutations ?? []).map(({ patchType, applyConfiguration, jsonPatch }) => ({
      patchType,
      condition: compileCondition((applyConfiguration ?? jsonPatch)?.expression ?? '', patching),
    })),
  }
}
