import { findCondition, toTime } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'
import type { Job, JobCondition } from '@kubewright/k8s'

/** The conditions of a job, as read from the server. */
export type JobConditions = readonly DeepReadonly<JobCondition>[]

/** Creates a condition with status True and the times set to now. */
export function jobCondition(type: string, reason: string, message: string, now: number): JobCondition {
  const time = toTime(now)
  return { type, status: 'True', lastProbeTime: time, lastTransitionTime: time, reason, message } as JobCondition
}

/** Whether the job is complete or failed. */
export function isFinished(job: Job): boolean {
  return job.status?.conditions?.some(({ type, status }) => ends(type) && status === 'True') ?? false
}

const ends = (type: string): boolean => type === 'Complete' || type === 'Failed'

/** The time at which the job finished, from its condition; undefined while it is not finished. */
export function finishTime(job: Job): string | undefined {
  return job.status?.conditions?.find(({ type, status }) => ends(type) && status === 'True')?.lastTransitionTime
}

/** The condition of this type if its status is True. */
export function trueCondition(job: Job, type: string): DeepReadonly<JobCondition> | undefined {
  const found = findCondition(job.status?.conditions, type)
  return found?.status === 'True' ? found : undefined
}

/**
 * Updates the condition Suspended; returns the same conditions when nothing changes. It is never added with status
 * False.
 */
export function withSuspended(conditions: JobConditions, suspended: boolean, now: number): JobConditions {
  const current = findCondition(conditions, 'Suspended')
  const status = suspended ? 'True' : 'False'
  if (current?.status === status || (current === undefined && !suspended)) return conditions
  const [reason, message] = suspended ? ['JobSuspended', 'Job suspended'] : ['JobResumed', 'Job resumed']
  const next = { ...jobCondition('Suspended', reason, message, now), status } as JobCondition
  return current === undefined ? [...conditions, next] : conditions.map((one) => (one === current ? next : one))
}
