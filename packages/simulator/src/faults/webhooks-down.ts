import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type WebhooksDown = { readonly kind: 'webhooks-down'; readonly at: number; readonly for: number }

export const webhooksDown: FaultDefinition<WebhooksDown> = defineFault<WebhooksDown>({
  kind: 'webhooks-down',
  class: 'webhooks',
  summary: 'the webhooks of the operator do not answer',
  points: (at, { hasWebhooks }) => (hasWebhooks ? [{ kind: 'webhooks-down', at, for: 10_000 }] : []),
  duration: (fault) => fault.for,
  describe: (fault, action) =>
    `the webhooks of the operator do not answer for ${seconds(fault.for)}, from ${action} on`,
  inject: (fault, { cluster }) => cluster.stopWebhooks(fault.for),
})
