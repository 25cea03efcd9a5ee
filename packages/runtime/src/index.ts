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
