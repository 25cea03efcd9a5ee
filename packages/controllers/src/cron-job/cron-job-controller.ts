import { controllerRef, isAlreadyExists, isControlledBy, isNotFound, keyOf, parseKey } from '@kubewright/api'
import {
  type CronSchedule,
  deepCopy,
  errorText,
  goQuote,
  goSecondsToMillis,
  timeZone as loadTimeZone,
  parseCron,
  type TimeZone,
} from '@kubewright/base'
import { CronJob, type CronJobStatus, Job, type JobDraft, type JobSpec } from '@kubewright/k8s'
import {
  type ControllerParts,
  type KeyContext,
  type KeyController,
  type KeyOutcome,
  kindSource,
} from '@kubewright/runtime'
import { isFinished, trueCondition } from '../job/job-conditions.ts'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { isNamespaceTerminating } from '../workload/pod-control.ts'
import { controlled } from '../workload/sources.ts'
import { writeStatus } from '../workload/write-status.ts'
import { dueRun, jobNameFor, nextRunIn, planJobHistory } from './plan-cron-job.ts'

const timestampAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp'

// The timer fires slightly late, so that the scheduled time has passed for certain.
const delay = 100

/** Creates the jobs of cron jobs at their scheduled times. */
export const cronJobController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'cronjob-controller',
  kind: CronJob,
  concurrency: 5,
  sources: [kindSource(CronJob), controlled(Job, CronJob)],
  start: (parts) => (key, context) => new CronRun(parts, context).reconcile(key),
})

type Active = NonNullable<CronJobStatus['active']>

/** One reconcile of a cron job. */
class CronRun {
  readonly #parts: ControllerParts
  readonly #context: KeyContext
  #active: Active = []
  #lastScheduleTime: number | undefined
  #lastSuccess: string | undefined

  constructor(parts: ControllerParts, context: KeyContext) {
    this.#parts = parts
    this.#context = context
  }

  async reconcile(key: string): Promise<KeyOutcome | undefined> {
    const { client } = this.#context
    const cronJob = await client.find(CronJob, parseKey(key))
    if (cronJob === undefined) return undefined
    const { namespace = '' } = cronJob.metadata
    const jobs = await client.list(Job, { namespace, controlledBy: cronJob })
    this.#active = deepCopy(cronJob.status?.active ?? []) as Active
    this.#lastSuccess = cronJob.status?.lastSuccessfulTime
    try {
      await this.#observe(cronJob, jobs)
      return await this.#schedule(cronJob)
    } finally {
      for (const job of planJobHistory(cronJob, jobs)) await this.#delete(cronJob, job)
      await writeStatus(client, CronJob, cronJob, this.#status(cronJob))
    }
  }

  /** Updates the list of active jobs. */
  async #observe(cronJob: CronJob, jobs: readonly Job[]): Promise<void> {
    for (const job of jobs) {
      const { name, uid } = job.metadata
      const listed = this.#active.some((one) => one.uid === uid)
      if (!isFinished(job)) {
        if (!listed) {
          const message = `Saw a job that the controller did not create or forgot: ${name}`
          this.#event(cronJob, 'Warning', 'UnexpectedJob', message)
        }
        continue
      }
      if (listed) {
        const condition = trueCondition(job, 'Complete') === undefined ? 'Failed' : 'Complete'
        this.#active = this.#active.filter((one) => one.uid !== uid)
        const message = `Saw completed job: ${name}, condition: ${condition}`
        this.#event(cronJob, 'Normal', 'SawCompletedJob', message)
      }
      const { completionTime } = job.status ?? {}
      const succeeded = trueCondition(job, 'Complete') !== undefined && completionTime !== undefined
      if (succeeded && completionTime > (this.#lastSuccess ?? '')) this.#lastSuccess = completionTime
    }
    const known = new Set(jobs.map((job) => job.metadata.uid))
    for (const { namespace = '', name = '', uid = '' } of [...this.#active]) {
      if (known.has(uid)) continue
      if ((await this.#parts.cluster.api.find(Job, { namespace, name })) !== undefined) continue
      this.#event(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`)
      this.#active = this.#active.filter((one) => one.uid !== uid)
    }
  }

  async #schedule(cronJob: CronJob): Promise<KeyOutcome | undefined> {
    if (cronJob.metadata.deletionTimestamp !== undefined) return undefined
    const { concurrencyPolicy, schedule: text, startingDeadlineSeconds, suspend, timeZone } = cronJob.spec
    let zone: TimeZone
    try {
      zone = loadTimeZone(timeZone ?? '')
    } catch (error) {
      this.#event(
        cronJob,
        'Warning',
        'UnknownTimeZone',
        `invalid timeZone: ${goQuote(timeZone ?? '')}: ${errorText(error)}`,
      )
      return undefined
    }
    if (suspend === true) return undefined
    const schedule = this.#parse(cronJob)
    if (schedule === undefined) return undefined
    const now = this.#parts.clock.now()
    const { time, manyMissed, neverRuns } = dueRun(cronJob, schedule, now)
    if (neverRuns) {
      const message = `invalid schedule: ${text} : time difference between two schedules is less than 1 second`
      this.#event(cronJob, 'Warning', 'InvalidSchedule', message)
      return undefined
    }
    const wait = nextRunIn(cronJob, schedule, now, time)
    const later = wait === undefined ? undefined : { requeueAfter: wait + delay }
    if (time === undefined) return later
    if (manyMissed) {
      const fix = 'Set or decrease .spec.startingDeadlineSeconds or check clock skew'
      this.#event(cronJob, 'Warning', 'TooManyMissedTimes', `too many missed start times. ${fix}`)
    }
    if (startingDeadlineSeconds !== undefined && time + goSecondsToMillis(startingDeadlineSeconds) < now) {
      const message = `Missed scheduled time to start a job: ${rfc1123(time)}`
      this.#event(cronJob, 'Warning', 'MissSchedule', message)
      return later
    }
    if (this.#active.some(({ name }) => name === jobNameFor(cronJob, time))) return later
    if (concurrencyPolicy === 'Forbid' && this.#active.length > 0) {
      const message = 'Not starting job because prior execution is running and concurrency policy is Forbid'
      this.#event(cronJob, 'Normal', 'JobAlreadyActive', message)
      return later
    }
    if (concurrencyPolicy === 'Replace') await this.#replace(cronJob)
    await this.#start(cronJob, time, zone)
    return later
  }

  /**
   * Parses the schedule with its time zone; undefined when it is invalid. A zone inside the schedule overrides
   * `spec.timeZone`.
   */
  #parse(cronJob: CronJob): CronSchedule | undefined {
    const { schedule, timeZone } = cronJob.spec
    const namesZone = schedule.includes('TZ')
    if (namesZone) {
      const message =
        `CRON_TZ or TZ used in schedule ${goQuote(schedule)} is not officially supported, ` +
        'see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details'
      this.#event(cronJob, 'Warning', 'UnsupportedSchedule', message)
    }
    try {
      return parseCron(namesZone || timeZone === undefined ? schedule : `TZ=${timeZone} ${schedule}`)
    } catch (error) {
      const message = `unparseable schedule: ${goQuote(schedule)} : ${errorText(error)}`
      this.#event(cronJob, 'Warning', 'UnparseableSchedule', message)
      return undefined
    }
  }

  async #replace(cronJob: CronJob): Promise<void> {
    for (const { namespace = '', name = '' } of [...this.#active]) {
      const job = await this.#parts.cluster.api.get(Job, { namespace, name })
      await this.#delete(cronJob, job)
    }
  }

  async #start(cronJob: CronJob, time: number, zone: TimeZone): Promise<void> {
    const { client } = this.#context
    const draft = jobDraft(cronJob, time, zone)
    const { name, namespace = '' } = draft.metadata
    let job: Job
    try {
      job = await client.create(Job(draft))
      this.#event(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${name}`)
    } catch (error) {
      if (isAlreadyExists(error)) {
        job = await this.#parts.cluster.api.get(Job, { namespace, name })
        // The job belongs to another owner: leave it alone.
        if (!isControlledBy(job, cronJob)) return
      } else {
        if (!isNamespaceTerminating(error)) {
          this.#event(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${errorText(error)}`)
        }
        throw error
      }
    }
    const { resourceVersion, uid } = job.metadata
    this.#active.push({ kind: 'Job', namespace, name, uid, apiVersion: 'batch/v1', resourceVersion })
    this.#lastScheduleTime = time
  }

  async #delete(cronJob: CronJob, job: Job): Promise<void> {
    const { name, uid } = job.metadata
    try {
      await this.#context.client.delete(Job, keyOf(job), { propagationPolicy: 'Background', preconditions: { uid } })
      this.#event(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`)
    } catch (error) {
      if (!isNotFound(error)) {
        this.#event(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${errorText(error)}`)
        throw error
      }
    }
    this.#active = this.#active.filter((one) => one.uid !== uid)
  }

  #status(cronJob: CronJob): CronJobStatus {
    const scheduled = this.#lastScheduleTime
    const last = scheduled === undefined ? cronJob.status?.lastScheduleTime : rfc3339(scheduled, 0)
    return {
      ...(this.#active.length > 0 ? { active: this.#active } : {}),
      ...(last === undefined ? {} : { lastScheduleTime: last }),
      ...(this.#lastSuccess === undefined ? {} : { lastSuccessfulTime: this.#lastSuccess }),
    }
  }

  #event(cronJob: CronJob, type: 'Normal' | 'Warning', reason: string, message: string): void {
    this.#context.events.record(cronJob, { type, reason, message })
  }
}

function jobDraft(cronJob: CronJob, time: number, zone: TimeZone): Pick<JobDraft, 'metadata' | 'spec'> {
  const { metadata, spec } = cronJob.spec.jobTemplate
  return {
    metadata: {
      name: jobNameFor(cronJob, time),
      namespace: cronJob.metadata.namespace ?? '',
      labels: { ...metadata?.labels },
      annotations: { ...metadata?.annotations, [timestampAnnotation]: rfc3339(time, zone.offsetAt(time)) },
      ownerReferences: [controllerRef(cronJob)],
    },
    spec: deepCopy<unknown>(spec ?? {}) as JobSpec,
  }
}

/** Formats a time as RFC 3339 with a zone offset in seconds. */
function rfc3339(millis: number, offset: number): string {
  const shown = new Date(millis + offset * 1000).toISOString().slice(0, 19)
  return `${shown}${offset === 0 ? 'Z' : signed(Math.trunc(offset / 60))}`
}

/** Formats a time as Go's time.RFC1123Z in UTC: `Mon, 02 Jan 2006 15:04:05 +0000`. */
const rfc1123 = (millis: number): string => new Date(millis).toUTCString().replace('GMT', '+0000')

function signed(offset: number): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const size = Math.abs(offset)
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}
