import { isPathSegmentName } from '@kubewright/base'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { type FieldError, type FieldPath, forbidden, required } from '@kubewright/schema'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { checkSelector } from '../../checks/strategy-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

/** Checks how a binding selects the parameters of its policy. */
export function validateParamRef(ref: Unchecked<admission.ParamRef>, path: FieldPath, errors: FieldError[]): void {
  const { name, selector, parameterNotFoundAction: action } = ref
  const exclusive = 'name and selector are mutually exclusive'
  if (name) {
    addInvalid(errors, path.child('name'), name, isPathSegmentName(name, false))
    if (selector) errors.push(forbidden(path.child('name'), exclusive))
  }
  if (selector) {
    checkSelector(errors, path.child('selector'), selector)
    if (name) errors.push(forbidden(path.child('selector'), exclusive))
  }
  if (!name && !selector) errors.push(required(path, 'one of name or selector must be specified'))
  const actionPath = path.child('parameterNotFoundAction')
  if (!action) errors.push(required(actionPath))
  else if (action !== 'Deny' && action !== 'Allow') errors.push(unsupported(actionPath, action, ['Deny', 'Allow']))
}
