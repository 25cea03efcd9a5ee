import { BOOL } from '@kubewright/cel'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { duplicate, type FieldError, type FieldPath, required, tooMany } from '@kubewright/schema'
import { checkQualifiedName } from '../../checks/field-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { admissionEnvironment, checkExpression } from './admission-expressions.ts'

/** Match conditions as a client sends them. */
export type MatchConditions = readonly Unchecked<admission.MatchCondition>[]

const maxConditions = 64

/** Checks the match conditions of a webhook or a policy. Only those of policies with parameters can use `params`. */
export function validateMatchConditions(
  conditions: MatchConditions,
  params: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (conditions.length > maxConditions) errors.push(tooMany(path, conditions.length, maxConditions))
  const names = new Set<string>()
  for (const [i, { name = '', expression = '' }] of conditions.entries()) {
    const at = path.index(i)
    const trimmed = expression.trim()
    if (trimmed === '') errors.push(required(at.child('expression')))
    else
      checkExpression(errors, at.child('expression'), trimmed, admissionEnvironment({ params, authorizer: true }), [
        BOOL,
      ])
    if (name === '') errors.push(required(at.child('name')))
    else {
      checkQualifiedName(errors, at.child('name'), name)
      if (names.has(name)) errors.push(duplicate(at.child('name'), name))
      names.add(name)
    }
  }
}
