export {
  type Context,
  type Controller,
  type ControllerOptions,
  defineController,
  type Outcome,
  type Watch,
  watch,
} from './define-controller.ts'
export { defineOperator, type LeaderElectionOptions, type Operator, type OperatorOptions } from './define-operator.ts'
export { defineWebhook, type Review, type Webhook, type WebhookOptions } from './define-webhook.ts'
export { duplicate, forbidden, type Issue, invalid, warning } from './issue.ts'
export type { Cause, CountedCause } from './work-queue/cause.ts'
export type { MetricLabels, MetricSink } from './work-queue/metric-sink.ts'
export { lowPriority, PriorityQueue, type PriorityQueueOptions } from './work-queue/priority-queue.ts'
export type {
  AddOptions,
  Queue,
  QueuedKey,
  QueueSnapshot,
  ShutDownOptions,
  ShutDownReport,
  Taken,
} from './work-queue/queue.ts'
export {
  type BucketOptions,
  bucketRateLimiter,
  defaultRateLimiter,
  type ExponentialOptions,
  type FastSlowOptions,
  itemExponentialRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  type RateLimiter,
  withMaxWait,
} from './work-queue/rate-limiter.ts'
export { WorkQueue, type WorkQueueOptions } from './work-queue/work-queue.ts'
export { workQueueMetricNames } from './work-queue/work-queue-metrics.ts'
