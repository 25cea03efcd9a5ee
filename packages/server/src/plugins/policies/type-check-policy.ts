import { parseGroupVersion } from '@kubewright/api'
import {
  AUTHORIZER_TYPE,
  CelCompileError,
  type CelEnvironment,
  CelPlanError,
  type CelType,
  type DeclaredType,
  DYN,
  declareSchema,
} from '@kubewright/cel'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import {
  admissionEnvironment,
  withPolicyVariables,
} from '../../builtins/admissionregistration/matching/admission-expressions.ts'
import type { Resource } from '../../resource/resource.ts'
import type { ResourceTable } from '../../resource/resource-table.ts'

/** The maximum number of kinds that a policy is checked against. */
const maxTypes = 10

/**
 * Checks the expressions of a policy against the schemas of the kinds that it matches. Type errors do not disable the policy; they
 * become warnings in its status (admission/plugin/policy/validating/typechecking.go).
 */
export function typeCheckPolicy(
  spec: admission.ValidatingAdmissionPolicySpec,
  resources: ResourceTable,
): admission.ExpressionWarning[] {
  const params = spec.paramKind && declared(paramResource(resources, spec.paramKind))
  const kinds = resourcesOf(spec, resources).flatMap((resource) => {
    const type = declared(resource)
    const { group, version, kind } = resource.kind
    return type ? [{ name: `${group}/${version}, Kind=${kind}`, environment: environmentFor(spec, type, params) }] : []
  })
  const warnings: admission.ExpressionWarning[] = []
  const check = (fieldRef: string, expression: string): void => {
    const problems = kinds.flatMap(({ name, environment }) => {
      const problem = problemOf(environment, expression)
      return problem === undefined ? [] : [`${name}: ${problem}\n`]
    })
    if (problems.length > 0) warnings.push({ fieldRef, warning: problems.join('\n') })
  }
  for (const [i, { expression, messageExpression }] of (spec.validations ?? []).entries()) {
    check(`spec.validations[${i}].expression`, expression)
    if (messageExpression) check(`spec.validations[${i}].messageExpression`, messageExpression)
  }
  return warnings
}

function declared(resource: Resource | undefined): DeclaredType | undefined {
  return resource && declareSchema(resource.kind.schema, { name: resource.kind.kind, isResourceRoot: true })
}

function environmentFor(
  spec: admission.ValidatingAdmissionPolicySpec,
  object: DeclaredType,
  params: DeclaredType | undefined,
): CelEnvironment {
  const base = admissionEnvironment({ params: false, authorizer: false }).extend({
    variables: { object, oldObject: object, ...(params ? { params } : {}), authorizer: AUTHORIZER_TYPE },
  })
  const types = new Map<string, CelType>()
  for (const { name, expression } of spec.variables ?? []) {
    let type: CelType = DYN
    try {
      type = withPolicyVariables(base, types).compile(expression).outputType
    } catch {
      // Expressions that use the variable are checked without its type.
    }
    types.set(name, type)
  }
  return withPolicyVariables(base, types)
}

function problemOf(environment: CelEnvironment, expression: string): string | undefined {
  try {
    environment.compile(expression)
    return undefined
  } catch (error) {
    if (error instanceof CelCompileError) return error.message
    // Constants that fail to evaluate are no type errors.
    if (error instanceof CelPlanError) return undefined
    throw error
  }
}

function paramResource(resources: ResourceTable, { apiVersion = '', kind }: admission.ParamKind): Resource | undefined {
  const { group, version } = parseGroupVersion(apiVersion)
  return resources.all().find(({ kind: candidate }) => {
    return candidate.group === group && candidate.version === version && candidate.kind === kind
  })
}

/** The resources that the rules name without wildcards, by group, version and kind. */
function resourcesOf(
  { matchConstraints }: admission.ValidatingAdmissionPolicySpec,
  resources: ResourceTable,
): Resource[] {
  const found = new Set<Resource>()
  for (const { apiGroups = [], apiVersions = [], resources: plurals = [] } of matchConstraints?.resourceRules ?? []) {
    if ([...apiGroups, ...apiVersions].some((name) => name.includes('*'))) continue
    const plain = plurals.filter((plural) => !/[*/]/.test(plural))
    for (const group of [...apiGroups].sort()) {
      for (const version of [...apiVersions].sort()) {
        for (const plural of [...plain].sort()) {
          const resource = resources.find(group, version, plural)
          if (resource && found.size < maxTypes) found.add(resource)
        }
      }
    }
  }
  const key = ({ kind: { group, version, kind } }: Resource): string => `${group}\0${version}\0${kind}`
  return [...found].sort((a, b) => (key(a) < key(b) ? -1 : 1))
}
