import { nameIsDNSSubdomain } from '@kubewright/base'
import { type FieldError, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { validateParamRef } from '../matching/param-ref.ts'
import { policyBindingTable } from '../matching/policy-binding-table.ts'
import { defaultMatchResources, validateMatchResources } from '../matching/validate-rules.ts'
import type { MutatingPolicyBindingSpec } from './mutating-admission-policy-spec.ts'

type Spec = Unchecked<MutatingPolicyBindingSpec>

/** MutatingAdmissionPolicyBindings (pkg/registry/admissionregistration/mutatingadmissionpolicybinding). */
export const mutatingAdmissionPolicyBindings: BuiltinDefinition = defineBuiltin({
  group: 'admissionregistration.k8s.io',
  resource: 'mutatingadmissionpolicybindings',
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
  const { policyName = '', paramRef, matchResources } = part<Spec>(object, 'spec')
  if (policyName === '') errors.push(required(specPath.child('policyName')))
  else addInvalid(errors, specPath.child('policyName'), policyName, nameIsDNSSubdomain(policyName, false))
  if (paramRef) validateParamRef(paramRef, specPath.child('paramRef'), errors)
  if (matchResources) validateMatchResources(matchResources, specPath.child('matchResources'), errors)
  return errors
}
