import { defineOperator } from 'kubewright'
import { cronJobController } from './cron-job.controller.ts'
import { cronJobWebhook } from './cron-job.webhook.ts'

export const operator = defineOperator({
  name: 'cron-job-operator',
  controllers: [cronJobController],
  webhooks: [cronJobWebhook],
  leaderElection: true,
})
