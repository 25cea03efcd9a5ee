import { isQualifiedName, regexMessage } from '@kubewright/base'
import type * as meta from '@kubewright/k8s/meta/v1'
import { duplicate, type FieldError, type FieldPath, invalid, required, tooLong } from '@kubewright/schema'
import type { Unchecked } from '../typed/unchecked.ts'
import { addInvalid, unsupported } from './field-checks.ts'
import { isTooLong } from './strategy-checks.ts'

const maxReason = 1024
const maxMessage = 32 * 1024
const reasonPattern = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?'
const reason = new RegExp(`^${reasonPattern}$`)
const reasonText =
  'a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters ' +
  "or '_,:', and must end with an alphanumeric character or '_'"

/** Checks a list of metav1.Condition (apimachinery/pkg/apis/meta/v1/validation). */
export function validateConditions(
  conditions: readonly Unchecked<meta.Condition>[],
  path: FieldPath,
  errors: FieldError[],
): void {
  const seen = new Set<string>()
  for (const [i, condition] of conditions.entries()) {
    const at = path.index(i)
    const { type = '', status = '' } = condition
    if (seen.has(type)) errors.push(duplicate(at.child('type'), type))
    seen.add(type)
    addInvalid(errors, at.child('type'), type, isQualifiedName(type))
    if (!['True', 'False', 'Unknown'].includes(status)) {
      errors.push(unsupported(at.child('status'), status, ['False', 'True', 'Unknown']))
    }
    const generation = condition.observedGeneration ?? 0
    if (generation < 0) {
      errors.push(invalid(at.child('observedGeneration'), generation, 'must be greater than or equal to zero'))
    }
    if (!condition.lastTransitionTime) errors.push(required(at.child('lastTransitionTime')))
    if (!condition.reason) errors.push(required(at.child('reason')))
    else {
      if (!reason.test(condition.reason)) {
        const examples = ['my_name', 'MY_NAME', 'MyName', 'ReasonA,ReasonB', 'ReasonA:ReasonB']
        errors.push(invalid(at.child('reason'), condition.reason, regexMessage(reasonText, reasonPattern, ...examples)))
      }
      if (isTooLong(condition.reason, maxReason)) errors.push(tooLong(at.child('reason'), maxReason))
    }
    if (isTooLong(condition.message ?? '', maxMessage)) errors.push(tooLong(at.child('message'), maxMessage))
  }
}
