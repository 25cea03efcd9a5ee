import { goQuote } from '@kubewright/base'
import type * as batch from '@kubewright/k8s/batch/v1'
import { duplicate, type FieldError, type FieldPath, invalid, omitValue, required, tooMany } from '@kubewright/schema'
import { checkQualifiedName, unsupported } from '../../checks/field-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type JobSpec = Unchecked<batch.JobSpec>
type Policy = NonNullable<JobSpec['podFailurePolicy']>
type Rule = NonNullable<Policy['rules']>[number]

const maxRules = 20
const maxPatterns = 20
const maxExitCodes = 255
// In the order of the error message.
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore']
const operators = ['In', 'NotIn']
const statuses = ['False', 'True', 'Unknown']

/** Fills the defaults of a pod failure policy. */
export function defaultFailurePolicy(policy: Policy | undefined): void {
  for (const rule of policy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) pattern.status ||= 'True'
  }
}

/** Checks the pod failure policy of a Job. */
export function validatePodFailurePolicy(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  const rules = spec.podFailurePolicy?.rules ?? []
  const rulesPath = path.child('rules')
  if (rules.length > maxRules) errors.push(tooMany(rulesPath, rules.length, maxRules))
  const { containers = [], initContainers = [] } = spec.template?.spec ?? {}
  const names = new Set([...containers, ...initContainers].map(({ name }) => name))
  for (const [i, rule] of rules.entries()) validateRule(spec, rule, names, rulesPath.index(i), errors)
}

function validateRule(
  spec: JobSpec,
  rule: Rule,
  containers: ReadonlySet<string | undefined>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const actionPath = path.child('action')
  if (rule.action === 'FailIndex') {
    if (spec.backoffLimitPerIndex === undefined) {
      errors.push(invalid(actionPath, rule.action, 'requires the backoffLimitPerIndex to be set'))
    }
  } else checkListed(errors, actionPath, rule.action, actions)
  const { onExitCodes, onPodConditions = [] } = rule
  if (onExitCodes) validateExitCodes(onExitCodes, containers, path.child('onExitCodes'), errors)
  const conditionsPath = path.child('onPodConditions')
  if (onPodConditions.length > maxPatterns) errors.push(tooMany(conditionsPath, onPodConditions.length, maxPatterns))
  for (const [i, { type = '', status }] of onPodConditions.entries()) {
    const at = conditionsPath.index(i)
    checkQualifiedName(errors, at.child('type'), type)
    checkListed(errors, at.child('status'), status, statuses)
  }
  if (onExitCodes && onPodConditions.length > 0) {
    errors.push(invalid(path, omitValue, 'specifying both OnExitCodes and OnPodConditions is not supported'))
  }
  if (!onExitCodes && onPodConditions.length === 0) {
    errors.push(invalid(path, omitValue, 'specifying one of OnExitCodes and OnPodConditions is required'))
  }
}

/** Checks an enumeration. The error for a missing value lists the valid ones. */
function checkListed(errors: FieldError[], path: FieldPath, value: string | undefined, known: readonly string[]): void {
  if (!value) {
    errors.push(required(path, `valid values: [${known.map((each) => goQuote(each)).join(' ')}]`))
  } else if (!known.includes(value)) errors.push(unsupported(path, value, known))
}

function validateExitCodes(
  { operator, containerName, values }: NonNullable<Rule['onExitCodes']>,
  containers: ReadonlySet<string | undefined>,
  path: FieldPath,
  errors: FieldError[],
): void {
  checkListed(errors, path.child('operator'), operator, operators)
  if (containerName !== undefined && !containers.has(containerName)) {
    const text = 'must be one of the container or initContainer names in the pod template'
    errors.push(invalid(path.child('containerName'), containerName, text))
  }
  const codes = values ?? []
  const valuesPath = path.child('values')
  if (codes.length === 0) errors.push(invalid(valuesPath, values ?? null, 'at least one value is required'))
  else if (codes.length > maxExitCodes) errors.push(tooMany(valuesPath, codes.length, maxExitCodes))
  const seen = new Set<number>()
  for (const [i, code] of codes.entries()) {
    const at = valuesPath.index(i)
    if (operator === 'In' && code === 0) errors.push(invalid(at, code, 'must not be 0 for the In operator'))
    if (seen.has(code)) errors.push(duplicate(at, code))
    seen.add(code)
  }
  if (codes.some((code, i) => i > 0 && codes[i - 1]! > code)) errors.push(invalid(valuesPath, codes, 'must be ordered'))
}
