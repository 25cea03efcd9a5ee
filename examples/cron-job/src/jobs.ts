import { type Client, isConditionTrue } from 'kubewright'
import { Job } from 'kubewright/k8s'
import type { CronJob } from './cron-job.ts'

/** The annotation of a Job with the time that it was scheduled for. */
const scheduledAt = 'batch.tutorial.kubebuilder.io/scheduled-at'

export function jobsOf(all: readonly Job[]) {
  const failed = all.filter((job) => isConditionTrue(job, 'Failed'))
  const successful = all.filter((job) => isConditionTrue(job, 'Complete'))
  return { all, failed, successful, active: all.filter((job) => !failed.includes(job) && !successful.includes(job)) }
}

/** The scheduled time of the most recent Job. */
export const lastRunOf = (jobs: readonly Job[]): string | undefined =>
  jobs
    .flatMap(({ metadata }) => metadata.annotations?.[scheduledAt] ?? [])
    .toSorted()
    .at(-1)

/** The Jobs that started first: all but the number to keep. */
export const oldest = (jobs: readonly Job[], keep: number): readonly Job[] =>
  jobs
    .toSorted((a, b) => (a.status?.startTime ?? '').localeCompare(b.status?.startTime ?? ''))
    .slice(0, Math.max(0, jobs.length - keep))

export async function deleteJobs(client: Client, jobs: readonly Job[]): Promise<void> {
  for (const { metadata } of jobs) await client.delete(Job, metadata, { propagationPolicy: 'Background' })
}

/** The Job of a run. Its name follows from the time, so that no run starts two Jobs. */
export function jobFor({ metadata: { name }, spec: { jobTemplate } }: CronJob, time: Date): ReturnType<typeof Job> {
  const { labels, annotations } = jobTemplate.metadata ?? {}
  return Job({
    metadata: {
      name: `${name}-${time.getTime() / 1000}`,
      labels,
      annotations: { ...annotations, [scheduledAt]: time.toISOString() },
    },
    // If it is missing, the API server rejects the Job.
    spec: jobTemplate.spec!,
  })
}
