import type { KubeObject } from '@kubewright/api'
import { nameIsDNSSubdomain } from '@kubewright/base'
import { type CelType, JSON_PATCH_TYPE, listType, OBJECT_TYPE } from '@kubewright/cel'
import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { ageColumn, defineTable, integerColumn, nameColumn, textColumn } from '../../../table/columns.ts'
import { unsupported } from '../../checks/field-checks.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { admissionEnvironment, checkExpression } from '../matching/admission-expressions.ts'
import { validateMatchConditions } from '../matching/match-conditions.ts'
import { validateParamKind, validateVariables } from '../matching/policy-spec.ts'
import { defaultMatchResources, validateMatchResources } from '../matching/validate-rules.ts'
import type { MutatingPolicySpec, Mutation } from './mutating-admission-policy-spec.ts'

type Spec = Unchecked<MutatingPolicySpec>

interface MutatingAdmissionPolicy extends KubeObject {
  readonly spec?: MutatingPolicySpec | undefined
}

const failurePolicies = ['Fail', 'Ignore']
const operations = ['CREATE', 'UPDATE']
const reinvocationPolicies = ['IfNeeded', 'Never']

/** How the patches of each type are written: the field with the expression, and the type of its result. */
const patchTypes: Readonly<
  Record<string, { readonly field: 'applyConfiguration' | 'jsonPatch'; readonly type: CelType }>
> = {
  ApplyConfiguration: { field: 'applyConfiguration', type: OBJECT_TYPE },
  JSONPatch: { field: 'jsonPatch', type: listType(JSON_PATCH_TYPE) },
}

/** MutatingAdmissionPolicies (pkg/registry/admissionregistration/mutatingadmissionpolicy). */
export const mutatingAdmissionPolicies: BuiltinDefinition = defineBuiltin({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicies',
  table: defineTable<MutatingAdmissionPolicy>([
    nameColumn,
    integerColumn('Mutations', 'Number of mutations.', ({ spec }) => spec?.mutations?.length ?? 0),
    textColumn('ParamKind', 'Kind of the parameters.', ({ spec }) =>
      spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
    ),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    anyFinalizer: true,
    metadataOnUpdate: ['create'],
    allowUnconditionalUpdate: false,
    setDefaults: (object) => {
      const spec = (object['spec'] ??= {}) as Spec
      spec.failurePolicy ??= 'Fail'
      spec.reinvocationPolicy ??= 'Never'
      defaultMatchResources(spec.matchConstraints)
    },
    generation: true,
    validate: (object) => validateSpec(object, false),
    validateUpdate: (object, old) => {
      const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
      const sameConditions =
        semanticEqual(spec.paramKind, before.paramKind) &&
        semanticEqual(spec.matchConditions ?? [], before.matchConditions ?? [])
      return validateSpec(object, sameConditions)
    },
  },
})

function validateSpec(object: MutableObject, skipMatchConditions: boolean): FieldError[] {
  const errors: FieldError[] = []
  const spec = part<Spec>(object, 'spec')
  const { failurePolicy, paramKind, matchConstraints, mutations = [], reinvocationPolicy = '' } = spec
  if (failurePolicy === undefined) errors.push(required(specPath.child('failurePolicy')))
  else if (!failurePolicies.includes(failurePolicy)) {
    errors.push(unsupported(specPath.child('failurePolicy'), failurePolicy, failurePolicies))
  }
  if (paramKind) validateParamKind(paramKind, specPath.child('paramKind'), errors)
  const constraintsPath = specPath.child('matchConstraints')
  if (!matchConstraints) errors.push(required(constraintsPath))
  else {
    validateMatchResources(matchConstraints, constraintsPath, errors)
    const rules = matchConstraints.resourceRules ?? []
    if (rules.length === 0) errors.push(required(constraintsPath.child('resourceRules')))
    for (const operation of rules.flatMap((rule) => rule.operations ?? [])) {
      if (operations.includes(operation)) continue
      errors.push(unsupported(constraintsPath.child('resourceRules', 'operations'), operation, operations))
    }
  }
  const params = paramKind !== undefined
  if (!skipMatchConditions) {
    validateMatchConditions(spec.matchConditions ?? [], params, specPath.child('matchConditions'), errors)
  }
  const variables = validateVariables(spec, params, errors)
  const mutationsPath = specPath.child('mutations')
  if (mutations.length === 0) errors.push(required(mutationsPath, 'mutations must contain at least one item'))
  for (const [i, mutation] of mutations.entries()) {
    validateMutation(mutation, { params, variables }, mutationsPath.index(i), errors)
  }
  if (reinvocationPolicy === '') errors.push(required(specPath.child('reinvocationPolicy')))
  else if (!reinvocationPolicies.includes(reinvocationPolicy)) {
    errors.push(unsupported(specPath.child('reinvocationPolicy'), reinvocationPolicy, reinvocationPolicies))
  }
  return errors
}

function validateMutation(
  mutation: Unchecked<Mutation>,
  scope: { readonly params: boolean; readonly variables: ReadonlyMap<string, CelType> | undefined },
  path: FieldPath,
  errors: FieldError[],
): void {
  const { patchType = '' } = mutation
  if (patchType === '') {
    errors.push(required(path.child('patchType')))
    return
  }
  const known = Object.hasOwn(patchTypes, patchType) ? patchTypes[patchType] : undefined
  if (!known) {
    errors.push(unsupported(path.child('patchType'), patchType, Object.keys(patchTypes)))
    return
  }
  const { field, type } = known
  const patch = mutation[field]
  if (!patch) errors.push(required(path.child(field), `must be specified when patchType is ${patchType}`))
  else {
    const at = path.child(field, 'expression')
    const expression = (patch.expression ?? '').trim()
    if (expression === '') errors.push(required(at))
    else
      checkExpression(errors, at, expression, admissionEnvironment({ ...scope, authorizer: true, patchTypes: true }), [
        type,
      ])
  }
  const other = field === 'jsonPatch' ? 'applyConfiguration' : 'jsonPatch'
  if (mutation[other]) {
    errors.push(invalid(path.child(other), `{${other}}`, `must not be specified when patchType is ${patchType}`))
  }
}
