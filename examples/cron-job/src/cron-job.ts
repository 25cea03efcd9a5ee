import { defineResource, type Infer, s } from 'kubewright'
import { schemaOf } from 'kubewright/k8s/schemas'

/** Runs a Job at the times of a schedule. */
export const CronJob = defineResource({
  group: 'batch.tutorial.kubebuilder.io',
  version: 'v1',
  kind: 'CronJob',
  description: 'Runs a Job at the times of a schedule.',
  spec: s.object({
    schedule: s.string().describe('When to run a Job, in the syntax of cron.'),
    startingDeadlineSeconds: s
      .int({ minimum: 0 })
      .describe('The time limit for starting a Job that missed its schedule. A later start is skipped.')
      .optional(),
    concurrencyPolicy: s
      .enum('Allow', 'Forbid', 'Replace')
      .default('Allow')
      .describe('Whether Jobs may run at the same time: Allow both, Forbid the new one, or Replace the old one.'),
    suspend: s.bool().default(false).describe('Stops further Jobs. Running Jobs continue.'),
    jobTemplate: s.from(schemaOf('io.k8s.api.batch.v1.JobTemplateSpec')).describe('The Job to run.'),
    successfulJobsHistoryLimit: s.int({ minimum: 0 }).default(3).describe('The number of successful Jobs to keep.'),
    failedJobsHistoryLimit: s.int({ minimum: 0 }).default(1).describe('The number of failed Jobs to keep.'),
  }),
  status: s.object({
    active: s.array(s.objectReference()).describe('The Jobs that are running.'),
    lastScheduleTime: s.time().describe('The schedule time of the most recent Job.').optional(),
    conditions: s.conditions('Available', 'Progressing', 'Degraded'),
  }),
  columns: { Schedule: '.spec.schedule', Suspend: '.spec.suspend', 'Last Schedule': '.status.lastScheduleTime' },
})
export type CronJob = Infer<typeof CronJob>
