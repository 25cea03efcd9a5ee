import { can, condition, defineController, ReconcileError, TerminalError } from 'kubewright'
import { Job } from 'kubewright/k8s'
import { CronJob } from './cron-job.ts'
import { deleteJobs, jobFor, jobsOf, lastRunOf, oldest } from './jobs.ts'
import { runsOf } from './schedule.ts'

export const cronJobController = defineController(CronJob, {
  owns: [Job],
  rbac: [can(Job, 'delete')],

  async reconcile(cronJob, { apply, children, client, now }) {
    const { spec } = cronJob
    const { active, failed, successful, all } = jobsOf(await children(Job))
    await deleteJobs(client, oldest(failed, spec.failedJobsHistoryLimit))
    await deleteJobs(client, oldest(successful, spec.successfulJobsHistoryLimit))

    const lastRun = lastRunOf(all) ?? cronJob.status?.lastScheduleTime
    const status = {
      active: active.map(({ metadata: { name, namespace, uid } }) => ({ kind: 'Job', name, namespace, uid })),
      lastScheduleTime: lastRun,
      conditions: conditionsOf(spec.suspend, failed.length, active.length),
    }
    const degraded = (reason: string, message: string) => ({
      ...status,
      conditions: [...status.conditions, condition('Degraded', true, reason, message)],
    })
    if (spec.suspend) return { status }

    const runs = runsOf(cronJob, lastRun, now())
    if (runs instanceof Error) {
      throw new TerminalError(runs.message, { mergeStatus: degraded('InvalidSchedule', runs.message) })
    }
    const requeueAfter = runs.next && runs.next.getTime() - now().getTime()
    const isBlocked = spec.concurrencyPolicy === 'Forbid' && active.length > 0
    if (runs.due === undefined || isBlocked) {
      const isLate = runs.due === undefined && runs.isMissed
      return {
        status: isLate ? degraded('MissedSchedule', 'A run missed its starting deadline') : status,
        requeueAfter,
      }
    }
    if (spec.concurrencyPolicy === 'Replace') await deleteJobs(client, active)

    const job = jobFor(cronJob, runs.due)
    try {
      await apply(job)
    } catch (cause) {
      const message = `Cannot create Job ${job.metadata.name}`
      throw new ReconcileError(message, { cause, mergeStatus: degraded('JobCreationFailed', `${message}: ${cause}`) })
    }
    // The new Job triggers the next reconcile, which reports it as active.
    return {
      mergeStatus: { conditions: [condition('Progressing', true, 'JobCreated', `Created job ${job.metadata.name}`)] },
      requeueAfter,
    }
  },
})

function conditionsOf(suspended: boolean, failed: number, active: number) {
  if (suspended) return [condition('Available', false, 'Suspended', 'CronJob is suspended')]
  if (failed > 0) {
    const message = `${failed} job(s) have failed`
    return [condition('Degraded', true, 'JobsFailed', message), condition('Available', false, 'JobsFailed', message)]
  }
  if (active > 0) {
    const message = `${active} job(s) are currently active`
    return [condition('Progressing', true, 'JobsActive', message), condition('Available', true, 'JobsActive', message)]
  }
  return [
    condition('Available', true, 'AllJobsCompleted', 'All jobs have completed successfully'),
    condition('Progressing', false, 'NoJobsActive', 'No jobs are currently active'),
  ]
}
