import { isDNS1035Label, isDNS1123Subdomain } from '@kubewright/base'
import { type CelType, DYN } from '@kubewright/cel'
import type * as admission from '@kubewright/k8s/admissionregistration/v1'
import { type FieldError, type FieldPath, invalid, required } from '@kubewright/schema'
import { specPath } from '../../checks/strategy-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { admissionEnvironment, checkExpression } from './admission-expressions.ts'

// The checks that validating and mutating admission policies share (pkg/apis/admissionregistration/validation).

type ParamKind = Unchecked<admission.ParamKind>
type Variables = Unchecked<admission.ValidatingAdmissionPolicySpec>['variables']

const reservedWords = new Set(
  (
    'true false null in as break const continue else for function if import let loop package namespace return var void ' +
    'while'
  ).split(' '),
)

/** Checks the kind of the parameters of a policy. */
export function validateParamKind(
  { apiVersion = '', kind = '' }: ParamKind,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child('apiVersion')
  const steps = apiVersion === '/' ? [''] : apiVersion.split('/')
  if (apiVersion === '') errors.push(required(at))
  else if (steps.length > 2) errors.push(invalid(at, apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  else {
    const group = steps.length === 2 ? steps[0]! : ''
    const version = steps.at(-1)!
    const groupProblems = group === '' ? [] : isDNS1123Subdomain(group)
    if (groupProblems.length > 0) errors.push(invalid(at, group, groupProblems.join(',')))
    if (version === '') errors.push(invalid(at, apiVersion, 'version must be specified'))
    else {
      const problems = isDNS1035Label(version)
      if (problems.length > 0) errors.push(invalid(at, version, problems.join(',')))
    }
  }
  if (kind === '') errors.push(required(path.child('kind')))
  else {
    const problems = isDNS1035Label(kind.toLowerCase())
    if (problems.length > 0) {
      const text = `may have mixed case, but should otherwise match: ${problems.join(',')}`
      errors.push(invalid(path.child('kind'), kind, text))
    }
  }
}

/** Checks the variables of a policy and returns their types. A variable can use those that precede it. */
export function validateVariables(
  { variables = [] }: { readonly variables?: Variables | undefined },
  params: boolean,
  errors: FieldError[],
): ReadonlyMap<string, CelType> | undefined {
  if (variables.length === 0) return undefined
  const types = new Map<string, CelType>()
  for (const [i, { name = '', expression = '' }] of variables.entries()) {
    const at = specPath.child('variables').index(i)
    if (name.trim() === '') errors.push(required(at.child('name'), 'name is not specified'))
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reservedWords.has(name)) {
      errors.push(invalid(at.child('name'), name, 'must be a valid CEL identifier'))
    }
    if (expression.trim() === '') errors.push(required(at.child('expression'), 'expression is not specified'))
    else {
      const environment = admissionEnvironment({ params, authorizer: true, variables: types })
      // A variable that does not compile gets the dynamic type, so that its uses report no further errors.
      types.set(name, checkExpression(errors, at.child('expression'), expression, environment, []) ?? DYN)
    }
  }
  return types
}
