import { nameIsDNSSubdomain } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { duplicate, type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { validateParamRef } from '../matching/param-ref.ts'
import { policyBindingTable } from '../matching/policy-binding-table.ts'
import { defaultMatchResources, validateMatchResources } from '../matching/validate-rules.ts'

type Spec = Unchecked<admission.ValidatingAdmissionPolicyBindingSpec>

const actions = ['Audit', 'Deny', 'Warn']

/** ValidatingAdmissionPolicyBindings (pkg/registry/admissionregistration/validatingadmissionpolicybinding). */
export const validatingAdmissionPolicyBindings: BuiltinDefinition = defineBuiltin({
  group: 'admissionregistration.k8s.io',
  resource: 'validatingadmissionpolicybindings',
  table: policyBindingTable,
  strategy: {
    validateName: nameIsDNSSubdomain,
    anyFinalizer: true,
    metadataOnUpdate: ['create'],
    allowUnconditionalUpdate: false,
    setDefaults: (object) => defaultMatchResources(part<Spec>(object, 'spec').matchResources),
    generation: true,
    validate,
    validateUpdate: validate,
  },
})

function validate(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { policyName = '', paramRef, matchResources, validationActions = [] } = part<Spec>(object, 'spec')
  if (policyName === '') errors.push(required(specPath.child('policyName')))
  else addInvalid(errors, specPath.child('policyName'), policyName, nameIsDNSSubdomain(policyName, false))
  if (paramRef) validateParamRef(paramRef, specPath.child('paramRef'), errors)
  if (matchResources) validateMatchResources(matchResources, specPath.child('matchResources'), errors)
  validateActions(validationActions, specPath.child('validationActions'), errors)
  return errors
}

function validateActions(wanted: readonly string[], path: FieldPath, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, action] of wanted.entries()) {
    if (!actions.includes(action)) errors.push(unsupported(path.index(i), action, actions))
    if (seen.has(action)) errors.push(duplicate(path.index(i), action))
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const text =
      'must not contain both Deny and Warn (repeating the same validation failure information in the API response and ' +
      'headers serves no purpose)'
    errors.push(invalid(path, wanted, text))
  }
  if (seen.size === 0) errors.push(required(path, 'at least one validation action is required'))
}
