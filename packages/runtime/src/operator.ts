// What an operator is defined with, and `run`, in an entry point of their own: a program that only defines an operator, or loads it for a
// tool, does not load the code that runs it.
export { can } from './controller/access-rule.ts'
export { ReconcileError, RetryLater, TerminalError } from './controller/reconcile-errors.ts'
export { defineController } from './define/define-controller.ts'
export { defineOperator } from './define/define-operator.ts'
export { defineWebhook } from './define/define-webhook.ts'
export { duplicate, forbidden, invalid, notSupported, required, warning } from './define/issue.ts'
export { kubeconfigSecrets } from './define/kubeconfig-secrets.ts'
export { cached } from './define/operator-settings.ts'
export { through } from './define/through.ts'
export { owned, watch } from './define/watched-kinds.ts'
export { generateOnce } from './reconcile/generate-once.ts'
export { run } from './run/run.ts'
