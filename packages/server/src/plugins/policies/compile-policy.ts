import { type CelType, DYN } from '@kubewright/cel'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { admissionEnvironment } from '../../builtins/admissionregistration/matching/admission-expressions.ts'
import { type Condition, compileCondition } from '../expressions/condition.ts'
import { lazySelector, type MatchCriteria } from '../requests/match-request.ts'

/** A compiled validation of a policy. */
export interface CompiledValidation {
  readonly condition: Condition
  readonly message: string
  readonly messageExpression: Condition | undefined
  readonly reason: string
}

/** The compiled expressions of a ValidatingAdmissionPolicy. */
export interface CompiledPolicy {
  readonly failurePolicy: string
  readonly matchConditions: readonly Condition[]
  readonly variables: ReadonlyMap<string, Condition>
  readonly validations: readonly CompiledValidation[]
  readonly auditAnnotations: readonly { readonly key: string; readonly condition: Condition }[]
}

/**
 * Compiles the expressions of a policy (admission/plugin/policy/validating/plugin.go). Expressions that do not compile fail when
 * they are evaluated.
 */
export function compilePolicy(spec: admission.ValidatingAdmissionPolicySpec): CompiledPolicy {
  const params = spec.paramKind !== undefined
  const { types, variables } = compileVariables(spec.variables, params)
  const full = admissionEnvironment({ params, authorizer: true, variables: types })
  const plain = admissionEnvironment({ params, authorizer: false, variables: types })
  return {
    failurePolicy: spec.failurePolicy ?? 'Fail',
    matchConditions: (spec.matchConditions ?? []).map(({ expression }) => compileCondition(expression, full)),
    variables,
    validations: (spec.validations ?? []).map(({ expression, message = '', messageExpression, reason }) => ({
      condition: compileCondition(expression, full),
      message: message.trim(),
      messageExpression: messageExpression ? compileCondition(messageExpression, plain) : undefined,
      reason: reason ?? 'Invalid',
    })),
    auditAnnotations: (spec.auditAnnotations ?? []).map(({ key, valueExpression }) => ({
      key,
      condition: compileCondition(valueExpression, full),
    })),
  }
}

/** Compiles the variables of a policy, and returns their types. A variable can use the variables before it. */
export function compileVariables(
  given: readonly admission.Variable[] = [],
  params: boolean,
): { readonly types: ReadonlyMap<string, CelType>; readonly variables: ReadonlyMap<string, Condition> } {
  const types = new Map<string, CelType>()
  const variables = new Map<string, Condition>()
  for (const { name, expression } of given) {
    const environment = admissionEnvironment({ params, authorizer: true, variables: types })
    const condition = compileCondition(expression, environment)
    variables.set(name, condition)
    types.set(name, condition.program?.outputType ?? DYN)
  }
  return { types, variables }
}

/** The match criteria of a policy or binding. A binding without resource rules matches everything that its policy matches. */
export function criteriaOf(resources: admission.MatchResources | undefined): MatchCriteria {
  const rules = resources?.resourceRules ?? []
  return {
    rules: rules.length === 0 ? undefined : rules,
    excludeRules: resources?.excludeResourceRules ?? [],
    matchPolicy: resources?.matchPolicy ?? 'Equivalent',
    namespaceSelector: lazySelector(resources?.namespaceSelector),
    objectSelector: lazySelector(resources?.objectSelector),
  }
}
