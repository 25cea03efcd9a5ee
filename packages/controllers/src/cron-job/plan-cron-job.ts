import { fromTime } from '@kubewright/api'
import { type CronSchedule, goSecondsToMillis } from '@kubewright/base'
import type { CronJob, Job } from '@kubewright/k8s'
import { finishTime, isFinished, trueCondition } from '../job/job-conditions.ts'

/** The result of {@link dueRun}. */
export interface DueRun {
  /** The latest scheduled time for which no job was started, in epoch milliseconds. */
  readonly time: number | undefined
  /** Whether so many runs were missed that the controller should warn, for example about clock skew. */
  readonly manyMissed: boolean
  /** Whether the schedule never matches, such as 31 February. */
  readonly neverRuns: boolean
}

const manyMisses = 100

/** Finds the latest run that is due and was not started yet. Earlier missed runs are dropped. */
export function dueRun(cronJob: CronJob, schedule: CronSchedule, now: number): DueRun {
  const { lastScheduleTime } = cronJob.status ?? {}
  const { startingDeadlineSeconds } = cronJob.spec
  let earliest = fromTime(lastScheduleTime ?? cronJob.metadata.creationTimestamp)
  if (startingDeadlineSeconds !== undefined)
    earliest = Math.max(earliest, now - goSecondsToMillis(startingDeadlineSeconds))
  const first = schedule.next(earliest)
  if (first === undefined || first > now) return { time: undefined, manyMissed: false, neverRuns: first === undefined }
  const second = schedule.next(first)
  if (second === undefined || second > now) return { time: first, manyMissed: false, neverRuns: false }
  // Years may have passed: skip close to the end instead of visiting every scheduled time.
  const period = second - first
  const missed = Math.floor((now - first) / period) + 1
  const time = lastUpTo(schedule, Math.max(earliest, first + (missed - 2) * period), now)
  return { time: time ?? second, manyMissed: missed > manyMisses, neverRuns: false }
}

/** The last scheduled time after `from` and up to `now`. Bisects when there are many: a schedule may have a gap, and then each minute. */
function lastUpTo(schedule: CronSchedule, from: number, now: number): number | undefined {
  let last: number | undefined
  let next = schedule.next(from)
  for (let steps = 0; next !== undefined && next <= now && steps < manyMisses; steps++) {
    last = next
    next = schedule.next(last)
  }
  if (last === undefined || next === undefined || next > now) return last
  for (let high = now; high - next >= 1000; ) {
    const middle = Math.floor((next + high) / 2)
    const found = schedule.next(middle)
    if (found !== undefined && found <= now) next = found
    else high = middle
  }
  return next
}

/**
 * The delay until the next run in milliseconds. An `@every` interval counts from the last run, which may be the one due
 * now.
 */
export function nextRunIn(cronJob: CronJob, schedule: CronSchedule, now: number, due?: number): number | undefined {
  const last = due ?? fromTime(cronJob.status?.lastScheduleTime ?? cronJob.metadata.creationTimestamp)
  const following = schedule.next(last)
  const next = following !== undefined && following > now ? following : schedule.next(now)
  return next === undefined ? undefined : next - now
}

/** The name of the job for a run. Deterministic, so that the same run is never started twice. */
export const jobNameFor = (cronJob: CronJob, time: number): string =>
  `${cronJob.metadata.name}-${Math.floor(time / 60_000)}`

/** The finished jobs beyond the history limits, oldest first. */
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
