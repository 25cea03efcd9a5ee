import { append, isDomainPrefixedPath } from '@kubewright/base'
import type * as batch from '@kubewright/k8s/batch/v1'
import { type FieldError, type FieldPath, invalid, required, tooLong, tooMany } from '@kubewright/schema'
import { addInvalid, checkNonNegative, unsupported } from '../../checks/field-checks.ts'
import { isTooLong, structValue } from '../../checks/strategy-checks.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { validatePodTemplateSpec } from '../../core/pod/template/validate-pod-template.ts'
import { podTemplateWarnings } from '../../core/pod/warnings/pod-warnings.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { countIndexes } from './job-indexes.ts'
import { validatePodFailurePolicy } from './pod-failure-policy.ts'

/** The spec of a Job as a client sends it. */
export type JobSpec = Unchecked<batch.JobSpec>

const maxIndexed = 100_000
const manyCompletions = 100_000
const maxOfMany = 10_000
const maxManagedBy = 63
const maxSuccessRules = 20
const maxSucceededIndexes = 64 * 1024

/** Checks the spec of a Job or of the job template of a CronJob, except for the selector. */
export function validateAnyJobSpec(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  for (const field of [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ] as const) {
    checkNonNegative(errors, path.child(field), spec[field])
  }
  if (spec.maxFailedIndexes !== undefined && spec.backoffLimitPerIndex === undefined) {
    errors.push(required(path.child('backoffLimitPerIndex'), 'when maxFailedIndexes is specified'))
  }
  if (spec.managedBy !== undefined) {
    const at = path.child('managedBy')
    if (spec.managedBy === '') errors.push(required(at))
    else addInvalid(errors, at, spec.managedBy, isDomainPrefixedPath(spec.managedBy))
    if (isTooLong(spec.managedBy, maxManagedBy)) errors.push(tooLong(at, maxManagedBy))
  }
  const mode = spec.completionMode
  if (mode !== undefined && mode !== 'NonIndexed' && mode !== 'Indexed') {
    errors.push(unsupported(path.child('completionMode'), mode, ['NonIndexed', 'Indexed']))
  }
  if (mode === 'Indexed') validateIndexed(spec, path, errors)
  if (mode === undefined || mode === 'NonIndexed') {
    for (const field of ['backoffLimitPerIndex', 'maxFailedIndexes'] as const) {
      if (spec[field] === undefined) continue
      errors.push(invalid(path.child(field), spec[field], 'requires indexed completion mode'))
    }
  }
  if (spec.podFailurePolicy) validatePodFailurePolicy(spec, path.child('podFailurePolicy'), errors)
  if (spec.successPolicy) validateSuccessPolicy(spec, path.child('successPolicy'), errors)
  validateReplacement(spec, path.child('podReplacementPolicy'), errors)
  append(errors, validatePodTemplateSpec((spec.template ?? {}) as PodTemplate, path.child('template')))
  validateRestartPolicy(spec, path.child('template', 'spec', 'restartPolicy'), errors)
}

function validateIndexed(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  const { completions, parallelism = 0, maxFailedIndexes } = spec
  const failedPath = path.child('maxFailedIndexes')
  if (completions === undefined) errors.push(required(path.child('completions'), 'when completion mode is Indexed'))
  if (parallelism > maxIndexed) {
    const text = `must be less than or equal to ${maxIndexed} when completion mode is Indexed`
    errors.push(invalid(path.child('parallelism'), parallelism, text))
  }
  if (completions !== undefined && (maxFailedIndexes ?? 0) > completions) {
    errors.push(invalid(failedPath, maxFailedIndexes, 'must be less than or equal to completions'))
  }
  if ((maxFailedIndexes ?? 0) > maxIndexed) {
    errors.push(invalid(failedPath, maxFailedIndexes, `must be less than or equal to ${maxIndexed}`))
  }
  if ((completions ?? 0) <= manyCompletions || spec.backoffLimitPerIndex === undefined) return
  const text =
    `must be less than or equal to ${maxOfMany} when completions are above ${manyCompletions} ` +
    'and used with backoff limit per index'
  if (maxFailedIndexes === undefined) {
    errors.push(required(failedPath, `must be specified when completions is above ${manyCompletions}`))
  }
  if (parallelism > maxOfMany) errors.push(invalid(path.child('parallelism'), parallelism, text))
  if ((maxFailedIndexes ?? 0) > maxOfMany) errors.push(invalid(failedPath, maxFailedIndexes, text))
}

function validateSuccessPolicy(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  const rules = spec.successPolicy?.rules
  if (spec.completionMode !== 'Indexed') {
    errors.push(invalid(path, successPolicyValue(spec.successPolicy), 'requires indexed completion mode'))
    return
  }
  const rulesPath = path.child('rules')
  const count = rules?.length ?? 0
  if (count === 0) {
    errors.push(required(rulesPath, 'at least one rules must be specified when the successPolicy is specified'))
  }
  if (count > maxSuccessRules) errors.push(tooMany(rulesPath, count, maxSuccessRules))
  const completions = spec.completions ?? 0
  for (const [i, { succeededCount, succeededIndexes }] of (rules ?? []).entries()) {
    const at = rulesPath.index(i)
    if (succeededCount === undefined && succeededIndexes === undefined) {
      errors.push(required(at, 'at least one of succeededCount or succeededIndexes must be specified'))
    }
    let total = 0
    if (succeededIndexes !== undefined) {
      const indexesPath = at.child('succeededIndexes')
      if (isTooLong(succeededIndexes, maxSucceededIndexes)) errors.push(tooLong(indexesPath, maxSucceededIndexes))
      const counted = countIndexes(succeededIndexes, completions)
      if (typeof counted === 'number') total = counted
      else errors.push(invalid(indexesPath, succeededIndexes, `error parsing succeededIndexes: ${counted}`))
    }
    if (succeededCount === undefined) continue
    const countPath = at.child('succeededCount')
    checkNonNegative(errors, countPath, succeededCount)
    if (succeededCount > completions) {
      const text = `must be less than or equal to ${completions} (the number of specified completions)`
      errors.push(invalid(countPath, succeededCount, text))
    }
    if (succeededIndexes !== undefined && succeededCount > total) {
      const text = `must be less than or equal to ${total} (the number of indexes in the specified succeededIndexes field)`
      errors.push(invalid(countPath, succeededCount, text))
    }
  }
}

/** The success policy in the form that errors show. */
export function successPolicyValue(policy: JobSpec['successPolicy']): unknown {
  if (!policy) return null
  const rules = policy.rules?.map(({ succeededIndexes, succeededCount }) => ({
    SucceededIndexes: succeededIndexes ?? null,
    SucceededCount: succeededCount ?? null,
  }))
  return structValue({ Rules: rules ?? null })
}

function validateReplacement(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  if (spec.podReplacementPolicy === undefined) return
  const known = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed']
  if (!known.includes(spec.podReplacementPolicy)) errors.push(unsupported(path, spec.podReplacementPolicy, known))
}

function validateRestartPolicy(spec: JobSpec, path: FieldPath, errors: FieldError[]): void {
  const policy = spec.template?.spec?.restartPolicy
  if (!policy || policy === 'Always') errors.push(required(path, 'valid values: "OnFailure", "Never"'))
  else if (policy !== 'OnFailure' && policy !== 'Never') {
    errors.push(unsupported(path, policy, ['OnFailure', 'Never']))
  } else if (spec.podFailurePolicy && policy !== 'Never') {
    errors.push(invalid(path, policy, 'only "Never" is supported when podFailurePolicy is specified'))
  }
}

/** The warnings about the spec of a Job or of the job template of a CronJob. */
export function jobSpecWarnings(spec: JobSpec, path: FieldPath): string[] {
  const warnings: string[] = []
  if (
    spec.completionMode === 'Indexed' &&
    (spec.completions ?? 0) > manyCompletions &&
    (spec.parallelism ?? 0) > maxOfMany
  ) {
    const text =
      'In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, ' +
      'Kubernetes might not be able to track completedIndexes when a big number of indexes fail'
    warnings.push(`${path}: ${text}`)
  }
  return [...warnings, ...podTemplateWarnings((spec.template ?? {}) as PodTemplate, path.child('template'))]
}
