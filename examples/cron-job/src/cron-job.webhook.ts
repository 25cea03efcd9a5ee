import { defineWebhook, invalid, parseCron } from 'kubewright'
import { CronJob } from './cron-job.ts'

// A Job has a name of at most 63 characters: that of the CronJob, a hyphen and the ten digits of the time.
const maxNameLength = 52

export const cronJobWebhook = defineWebhook(CronJob, {
  validate: ({ metadata, spec }) => [
    metadata.name.length > maxNameLength &&
      invalid('metadata.name', `must be no more than ${maxNameLength} characters`, metadata.name),
    scheduleProblem(spec.schedule) !== undefined && invalid('spec.schedule', scheduleProblem(spec.schedule)!),
  ],
})

function scheduleProblem(schedule: string): string | undefined {
  try {
    parseCron(schedule)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
