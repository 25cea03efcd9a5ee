import type { BuiltinTable } from '../builtin-resources.ts'
import { cronJobs } from './cron-job/cron-job.ts'
import { jobs } from './job/job.ts'

/** The resources of the batch group. */
export const batchResources: BuiltinTable = {
  'batch/cronjobs': cronJobs,
  'batch/jobs': jobs,
}
