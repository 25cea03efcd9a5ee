import { parseCron } from 'kubewright'
import type { CronJob } from './cron-job.ts'

/** The runs of a CronJob after the last one. */
export interface Runs {
  /** The latest run whose time has come. */
  readonly due: Date | undefined
  readonly next: Date | undefined
  /** Whether a run missed its starting deadline. */
  readonly isMissed: boolean
}

const maxRuns = 100

/** Returns an error if the schedule is invalid, or if so many runs are due that the clock or the schedule must be wrong. */
export function runsOf({ metadata, spec }: CronJob, lastRun: string | undefined, now: Date): Runs | Error {
  let schedule: ReturnType<typeof parseCron>
  try {
    schedule = parseCron(spec.schedule)
  } catch (error) {
    return new Error(`Cannot parse schedule ${JSON.stringify(spec.schedule)}`, { cause: error })
  }
  const last = Date.parse(lastRun ?? metadata.creationTimestamp)
  const deadline = now.getTime() - (spec.startingDeadlineSeconds ?? Infinity) * 1000
  const missed = schedule.next(last)
  const due: number[] = []
  let next = schedule.next(Math.max(last, deadline))
  for (; next !== undefined && next <= now.getTime(); next = schedule.next(next)) {
    due.push(next)
    if (due.length > maxRuns) return new Error(`More than ${maxRuns} runs are due: set .spec.startingDeadlineSeconds`)
  }
  const dateOf = (time: number | undefined) => (time === undefined ? undefined : new Date(time))
  return { due: dateOf(due.at(-1)), next: dateOf(next), isMissed: missed !== undefined && missed <= deadline }
}
