import { JsonPath } from '@kubewright/api'
import { nameIsDNSSubdomain } from '@kubewright/base'
import { BOOL, type CelType, NULL, STRING } from '@kubewright/cel'
import type { ValidatingAdmissionPolicy } from '@kubewright/k8s'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { duplicate, type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, defineTable, integerColumn, nameColumn, textColumn } from '../../../table/columns.ts'
import { checkQualifiedName, unsupported } from '../../checks/field-checks.ts'
import { resetForStatus } from '../../checks/reset-for-status.ts'
import { isTooLong, part, specPath, statusPath, structValue } from '../../checks/strategy-checks.ts'
import { validateConditions } from '../../checks/validate-conditions.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { admissionEnvironment, checkExpression } from '../matching/admission-expressions.ts'
import { validateMatchConditions } from '../matching/match-conditions.ts'
import { validateParamKind, validateVariables } from '../matching/policy-spec.ts'
import { defaultMatchResources, validateMatchResources } from '../matching/validate-rules.ts'

type Spec = Unchecked<admission.ValidatingAdmissionPolicySpec>
type Status = Unchecked<admission.ValidatingAdmissionPolicyStatus>
type Validation = NonNullable<Spec['validations']>[number]

const failurePolicies = ['Fail', 'Ignore']
const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const maxAuditAnnotations = 20
const maxValueExpression = 5 * 1024

/** ValidatingAdmissionPolicies (pkg/registry/admissionregistration/validatingadmissionpolicy). */
export const validatingAdmissionPolicies: BuiltinDefinition = defineBuiltin({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicies',
  table: defineTable<ValidatingAdmissionPolicy>([
    nameColumn,
    integerColumn('Validations', 'Number of validations.', ({ spec }) => spec?.validations?.length ?? 0),
    textColumn('ParamKind', 'Kind of the parameters.', ({ spec }) =>
      spec?.paramKind ? `${spec.paramKind.apiVersion ?? ''}/${spec.paramKind.kind ?? ''}` : '<unset>',
    ),
    ageColumn,
  ]),
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      anyFinalizer: true,
      metadataOnUpdate: ['create'],
      allowUnconditionalUpdate: false,
      setDefaults: (object) => {
        const spec = (object['spec'] ??= {}) as Spec
        spec.failurePolicy ??= 'Fail'
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
    {
      resets: ['spec', 'metadata'],
      prepareForUpdate: resetForStatus,
      validateUpdate: validateStatus,
      createsMissing: 'apply',
    },
  ),
})

function validateSpec(object: MutableObject, skipMatchConditions: boolean): FieldError[] {
  const errors: FieldError[] = []
  const spec = part<Spec>(object, 'spec')
  const { failurePolicy, paramKind, matchConstraints, validations = [], auditAnnotations = [] } = spec
  if (failurePolicy === undefined) errors.push(required(specPath.child('failurePolicy')))
  else if (!failurePolicies.includes(failurePolicy)) {
    errors.push(unsupported(specPath.child('failurePolicy'), failurePolicy, failurePolicies))
  }
  if (paramKind) validateParamKind(paramKind, specPath.child('paramKind'), errors)
  const constraintsPath = specPath.child('matchConstraints')
  if (!matchConstraints) errors.push(required(constraintsPath))
  else {
    validateMatchResources(matchConstraints, constraintsPath, errors)
    if ((matchConstraints.resourceRules ?? []).length === 0) {
      errors.push(required(constraintsPath.child('resourceRules')))
    }
  }
  const params = paramKind !== undefined
  if (!skipMatchConditions) {
    validateMatchConditions(spec.matchConditions ?? [], params, specPath.child('matchConditions'), errors)
  }
  const variables = validateVariables(spec, params, errors)
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const text = 'validations or auditAnnotations must contain at least one item'
    errors.push(required(specPath.child('validations'), text), required(specPath.child('auditAnnotations'), text))
    return errors
  }
  for (const [i, validation] of validations.entries()) {
    validateValidation(validation, params, variables, specPath.child('validations').index(i), errors)
  }
  validateAuditAnnotations(object.metadata.name ?? '', spec, variables, errors)
  return errors
}

function validateValidation(
  validation: Validation,
  params: boolean,
  variables: ReadonlyMap<string, CelType> | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { expression = '', message = '', messageExpression = '', reason } = validation
  if (expression.trim() === '') errors.push(required(path.child('expression'), 'expression is not specified'))
  else {
    const environment = admissionEnvironment({ params, authorizer: true, variables })
    checkExpression(errors, path.child('expression'), expression, environment, [BOOL])
  }
  const messagePath = path.child('messageExpression')
  if (messageExpression.trim() !== '') {
    const environment = admissionEnvironment({ params, authorizer: false, variables })
    checkExpression(errors, messagePath, messageExpression, environment, [STRING])
  } else if (messageExpression !== '') {
    errors.push(invalid(messagePath, messageExpression, 'must be non-empty if specified'))
  }
  if (message !== '' && message.trim() === '') {
    errors.push(invalid(path.child('message'), message, 'must be non-empty if specified'))
  } else if (/[\n\r]/.test(message.trim())) {
    errors.push(invalid(path.child('message'), message, 'must not contain line breaks'))
  }
  if (reason !== undefined && !reasons.includes(reason)) {
    errors.push(unsupported(path.child('reason'), reason, reasons))
  }
}

function validateAuditAnnotations(
  name: string,
  { paramKind, auditAnnotations = [] }: Spec,
  variables: ReadonlyMap<string, CelType> | undefined,
  errors: FieldError[],
): void {
  const path = specPath.child('auditAnnotations')
  if (auditAnnotations.length > maxAuditAnnotations) {
    const shown = auditAnnotations.map(({ key = '', valueExpression = '' }) => ({
      Key: key,
      ValueExpression: valueExpression,
    }))
    errors.push(invalid(path, structValue(shown), `must not have more than ${maxAuditAnnotations} auditAnnotations`))
  }
  const environment = admissionEnvironment({ params: paramKind !== undefined, authorizer: true, variables })
  const keys = new Set<string>()
  for (const [i, { key = '', valueExpression = '' }] of auditAnnotations.entries()) {
    const at = path.index(i)
    if (name === '') errors.push(invalid(at.child('key'), key, 'requires metadata.name be non-empty'))
    else checkQualifiedName(errors, at.child('key'), `${name}/${key}`)
    const valuePath = at.child('valueExpression')
    const trimmed = valueExpression.trim()
    if (trimmed === '') errors.push(required(valuePath, 'valueExpression is not specified'))
    else if (isTooLong(trimmed, maxValueExpression)) {
      errors.push(required(valuePath, `must not exceed ${maxValueExpression} bytes in length`))
    } else checkExpression(errors, valuePath, trimmed, environment, [STRING, NULL], valueExpression)
    if (keys.has(key)) errors.push(duplicate(at.child('key'), key))
    keys.add(key)
  }
}

function validateStatus(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const status = part<Status>(object, 'status')
  const warningsPath = statusPath.child('typeChecking', 'expressionWarnings')
  for (const [i, { warning = '', fieldRef = '' }] of (status.typeChecking?.expressionWarnings ?? []).entries()) {
    const at = warningsPath.index(i)
    if (warning === '') errors.push(required(at.child('warning')))
    const trimmed = fieldRef.trim()
    if (trimmed === '') errors.push(required(at.child('fieldRef')))
    else {
      const problem = jsonPathProblem(trimmed)
      if (problem !== undefined) {
        errors.push(invalid(at.child('fieldRef'), trimmed, `invalid JSONPath: ${problem}`))
      }
    }
  }
  validateConditions(status.conditions ?? [], statusPath.child('conditions'), errors)
  return errors
}

function jsonPathProblem(path: string): string | undefined {
  try {
    new JsonPath(`{${path}}`)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
