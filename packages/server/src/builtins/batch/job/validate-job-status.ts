import { parseRFC3339 } from '@kubewright/base'
import type * as batch from '@kubewright/k8s/batch/v1'
import { duplicate, type FieldError, invalid, omitValue, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { part, statusPath, structValue } from '../../checks/strategy-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { commonIndex, countIndexes } from './job-indexes.ts'
import type { JobSpec } from './validate-job-spec.ts'

/** The status of a Job as a controller sends it. */
export type JobStatus = Unchecked<batch.JobStatus>

const conditionsPath = statusPath.child('conditions')

/** A status and the facts that the rules need. */
class StatusView {
  readonly status: JobStatus
  readonly complete: boolean
  readonly failed: boolean
  readonly finished: boolean
  readonly failureTarget: boolean
  readonly successCriteriaMet: boolean

  constructor(status: JobStatus) {
    this.status = status
    this.complete = this.is('Complete')
    this.failed = this.is('Failed')
    this.finished = this.complete || this.failed
    this.failureTarget = this.is('FailureTarget')
    this.successCriteriaMet = this.is('SuccessCriteriaMet')
  }

  is(type: string, value = 'True'): boolean {
    return (this.status.conditions ?? []).some((condition) => condition.type === type && condition.status === value)
  }
}

/**
 * Checks an update of the status of a Job. Most rules apply only if the update changes the fields that they concern, so that a status
 * that an older controller wrote can be updated (pkg/registry/batch/job, getStatusValidationOptions).
 */
export function validateJobStatusUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const spec = part<JobSpec>(object, 'spec')
  const [now, before] = [object, old].map((each) => new StatusView(part<JobStatus>(each, 'status'))) as [
    StatusView,
    StatusView,
  ]
  const errors: FieldError[] = []
  validateCounts(now.status, errors)
  validateConditions(now, before, spec, errors)
  validateChanges(now, before, spec, errors)
  return errors
}

function validateCounts(status: JobStatus, errors: FieldError[]): void {
  for (const field of ['active', 'succeeded', 'failed', 'ready', 'terminating'] as const) {
    checkNonNegative(errors, statusPath.child(field), status[field])
  }
  const seen = new Set<string>()
  for (const list of ['succeeded', 'failed'] as const) {
    for (const [i, uid] of (status.uncountedTerminatedPods?.[list] ?? []).entries()) {
      const path = statusPath.child('uncountedTerminatedPods', list).index(i)
      if (uid === '') errors.push(invalid(path, uid, 'must not be empty'))
      else if (seen.has(uid)) errors.push(duplicate(path, uid))
      seen.add(uid)
    }
  }
}

function validateConditions(now: StatusView, before: StatusView, spec: JobSpec, errors: FieldError[]): void {
  const { status } = now
  const changed = (field: keyof JobStatus): boolean => !semanticEqual(status[field], before.status[field])
  const completeChanged = now.complete !== before.complete
  const finishedChanged = now.finished !== before.finished
  const reject = (text: string): void => void errors.push(invalid(conditionsPath, omitValue, text))
  const timePath = statusPath.child('completionTime')

  if ((completeChanged || now.failed !== before.failed) && now.complete && now.failed) {
    reject('cannot set Complete=True and Failed=true conditions')
  }
  if ((completeChanged || now.failureTarget !== before.failureTarget) && now.complete && now.failureTarget) {
    reject('cannot set Complete=True and FailureTarget=true conditions')
  }
  if (completeChanged || changed('completionTime')) {
    if (status.completionTime !== undefined && !now.complete) {
      const text = 'cannot set completionTime when there is no Complete=True condition'
      errors.push(invalid(timePath, status.completionTime, text))
    }
    if (status.completionTime === undefined && now.complete) {
      errors.push(required(timePath, 'completionTime is required for Complete jobs'))
    }
  }
  if ((changed('startTime') || changed('completionTime')) && isBefore(status.completionTime, status.startTime)) {
    errors.push(invalid(timePath, status.completionTime, 'must be equal to or after `startTime`'))
  }
  if ((now.failed !== before.failed || changed('failedIndexes')) && now.failed && !now.failureTarget) {
    reject('cannot set Failed=True condition without the FailureTarget=true condition')
  }
  const criteriaChanged = now.successCriteriaMet !== before.successCriteriaMet
  if ((completeChanged || criteriaChanged) && now.complete && !now.successCriteriaMet) {
    reject('cannot set Complete=True condition without the SuccessCriteriaMet=true condition')
  }
  if ((finishedChanged || changed('active')) && (status.active ?? 0) > 0 && now.finished) {
    errors.push(invalid(statusPath.child('active'), status.active, 'active>0 is invalid for finished job'))
  }
  const nothingToDo = spec.suspend === true && spec.completions === 0
  if ((finishedChanged || changed('startTime')) && !nothingToDo && now.finished && status.startTime === undefined) {
    errors.push(required(statusPath.child('startTime'), 'startTime is required for finished job'))
  }
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {}
  if ((finishedChanged || changed('uncountedTerminatedPods')) && now.finished && succeeded.length + failed.length > 0) {
    const shown = { Succeeded: orNull(succeeded), Failed: orNull(failed) }
    const path = statusPath.child('uncountedTerminatedPods')
    errors.push(invalid(path, structValue(shown), 'must be empty for finished job'))
  }
  validateIndexes(status, changed('completedIndexes'), changed('failedIndexes'), spec, errors)
  if ((finishedChanged || changed('terminating')) && (status.terminating ?? 0) > 0 && now.finished) {
    const path = statusPath.child('terminating')
    errors.push(invalid(path, status.terminating, 'terminating>0 is invalid for finished job'))
  }
  if ((changed('ready') || changed('active')) && status.ready !== undefined && status.ready > (status.active ?? 0)) {
    errors.push(invalid(statusPath.child('ready'), status.ready, 'cannot set more ready pods than active'))
  }
  if (now.successCriteriaMet && now.failed) reject('cannot set SuccessCriteriaMet=True and Failed=true conditions')
  if (now.successCriteriaMet && now.failureTarget) {
    reject('cannot set SuccessCriteriaMet=True and FailureTarget=true conditions')
  }
  if (spec.successPolicy && !now.successCriteriaMet && now.complete) {
    reject('cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True')
  }
}

function validateIndexes(
  status: JobStatus,
  completedChanged: boolean,
  failedChanged: boolean,
  spec: JobSpec,
  errors: FieldError[],
): void {
  const { completedIndexes = '', failedIndexes } = status
  const { completions, backoffLimitPerIndex } = spec
  const [completedPath, failedPath] = [statusPath.child('completedIndexes'), statusPath.child('failedIndexes')]
  if (completedChanged && completions !== undefined) {
    const counted = countIndexes(completedIndexes, completions)
    if (typeof counted === 'string') {
      errors.push(invalid(completedPath, completedIndexes, `error parsing completedIndexes: ${counted}`))
    }
  }
  if (failedChanged && completions !== undefined && backoffLimitPerIndex !== undefined && failedIndexes !== undefined) {
    const counted = countIndexes(failedIndexes, completions)
    if (typeof counted === 'string') {
      errors.push(invalid(failedPath, failedIndexes, `error parsing failedIndexes: ${counted}`))
    }
  }
  if (completedChanged && completedIndexes !== '' && spec.completionMode !== 'Indexed') {
    const text = 'cannot set non-empty completedIndexes when non-indexed completion mode'
    errors.push(invalid(completedPath, completedIndexes, text))
  }
  if (failedChanged && backoffLimitPerIndex === undefined && failedIndexes !== undefined) {
    const text = 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'
    errors.push(invalid(failedPath, failedIndexes, text))
  }
  if ((completedChanged || failedChanged) && completions !== undefined && failedIndexes !== undefined) {
    const common = commonIndex(completedIndexes, failedIndexes, completions)
    if (common !== undefined) {
      const text = `failedIndexes and completedIndexes overlap at index: ${common}`
      errors.push(invalid(failedPath, failedIndexes, text))
    }
  }
}

/** Checks that an update does not revert terminal conditions, counters and times. */
function validateChanges(now: StatusView, before: StatusView, spec: JobSpec, errors: FieldError[]): void {
  const { status } = now
  const reject = (text: string): void => void errors.push(invalid(conditionsPath, omitValue, text))
  for (const type of ['Failed', 'Complete', 'FailureTarget']) {
    if (before.is(type) && !now.is(type)) reject(`cannot disable the terminal ${type}=True condition`)
  }
  if ((status.failed ?? 0) < (before.status.failed ?? 0)) {
    errors.push(invalid(statusPath.child('failed'), status.failed ?? 0, 'cannot decrease the failed counter'))
  }
  const elastic = spec.completionMode === 'Indexed' && spec.completions === spec.parallelism
  if (!elastic && (status.succeeded ?? 0) < (before.status.succeeded ?? 0)) {
    errors.push(invalid(statusPath.child('succeeded'), status.succeeded ?? 0, 'cannot decrease the succeeded counter'))
  }
  const [time, oldTime] = [status.completionTime, before.status.completionTime]
  if (time !== undefined && oldTime !== undefined && time !== oldTime) {
    errors.push(invalid(statusPath.child('completionTime'), time, 'field is immutable'))
  }
  const resuming = before.is('Suspended') && now.is('Suspended', 'False')
  const started = before.status.startTime
  if (started !== undefined && started !== status.startTime && !resuming && !spec.suspend) {
    errors.push(required(statusPath.child('startTime'), 'startTime cannot be removed for unsuspended job'))
  }
  if (before.successCriteriaMet && !now.successCriteriaMet) {
    reject('cannot disable the SuccessCriteriaMet=True condition')
  }
  if (before.complete && !before.successCriteriaMet && now.successCriteriaMet) {
    reject('cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions')
  }
}

function isBefore(time: string | undefined, other: string | undefined): boolean {
  return time !== undefined && other !== undefined && parseRFC3339(time).seconds < parseRFC3339(other).seconds
}

function orNull<T>(list: readonly T[]): readonly T[] | null {
  return list.length === 0 ? null : list
}
