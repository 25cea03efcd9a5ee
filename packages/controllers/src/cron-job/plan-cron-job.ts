import { fromTime } from '@kubewright/api'
import type { CronSchedule } from '@kubewright/base'
import type { CronJob, Job } from '@kubewright/k8s'
import { finishTime, isFinished, trueCondition } from '../job/job-conditions.ts'

/** The runs that are due. */
export interface DueRun {
  /** The latest time that was not served, in milliseconds. */
  readonly time: number | undefined
  /** Whether so many were missed that something must be wrong. */
  readonly manyMissed: boolean
  /** Whether the schedule selects no time that exists, such as 31 February. */
  readonly neverRuns: boolean
}

const manyMisses = 100

/** Finds the latest run that is due and not served yet. Earlier ones that were missed are dropped. */
export function dueRun(cronJob: CronJob, schedule: CronSchedule, now: number): DueRun {
  const { lastScheduleTime } = cronJob.status ?? {}
  const { startingDeadlineSeconds } = cronJob.spec
  let earliest = fromTime(lastScheduleTime ?? cronJob.metadata.creationTimestamp)
  if (startingDeadlineSeconds !== undefined) earliest = Math.max(earliest, now - startingDeadlineSeconds * 1000)
  const first = schedule.next(earliest)
  if (first === undefined || first > now) return { time: undefined, manyMissed: false, neverRuns: first === undefined }
  const second = schedule.next(first)
  if (second === undefined || second > now) return { time: first, manyMissed: false, neverRuns: false }
  // Years may have passed: start near the end instead of walking all the way.
  const period = second - first
  const missed = Math.floor((now - first) / period) + 1
  let time: number | undefined
  let candidate = schedule.next(Math.max(earliest, first + (missed - 2) * period))
  while (candidate !== undefined && candidate <= now) {
    time = candidate
    candidate = schedule.next(candidate)
  }
  return { time: time ?? second, manyMissed: missed > manyMisses, neverRuns: false }
}

/** In how many milliseconds the next run is due. A period counts from the last run, which may be the one that is due now. */
export function nextRunIn(cronJob: CronJob, schedule: CronSchedule, now: number, due?: number): number | undefined {
  const last = due ?? fromTime(cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp)
  const following = schedule.next(last)
  const next = following !== undefined && following > now ? following : schedule.next(now)
  return next === undefined ? undefined : next - now
}

/** The name of the job of a run: the same for the same time, so that no run happens twice. */
export const jobNameFor = (cronJob: CronJob, time: number): string =>
  `${cronJob.metadata.name}-${Math.floor(time / 60_000)}`

/** The finished jobs beyond the limits of the history, oldest first. */
export function planJobHistory(cronJob: CronJob, jobs: readonly Job[]): readonly Job[] {
  const { failedJobsHistoryLimit = 1, successfulJobsHistoryLimit = 3 } = cronJob.spec
  const finished = jobs.filter((job) => isFinished(job) && job.metadata.deletionTimestamp === undefined)
  const beyond = (some: readonly Job[], limit: number): readonly Job[] =>
    [...some].sort(byStart).slice(0, Math.max(0, some.length - limit))
  return [
    ...beyond(
      finished.filter((job) => trueCondition(job, 'Complete') !== undefined),
      successfulJobsHistoryLimit,
    ),
    ...beyond(
      finished.filter((job) => trueCondition(job, 'Complete') === undefined),
      failedJobsHistoryLimit,
    ),
  ]
}

function byStart(a: Job, b: Job): number {
  const rank = (job: Job): string => `${job.status?.startTime ?? finishTime(job) ?? ''} ${job.metadata.name}`
  return rank(a) < rank(b) ? -1 : 1
}
