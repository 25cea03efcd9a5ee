import type { Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Operator } from '../define-operator.ts'
import type { HealthChecks } from '../health/health-check.ts'
import type { Runnable } from '../manager/runnable.ts'
import type { Tracer } from '../tracing/tracer.ts'
import { type StartWebhooksOptions, startWebhooks } from '../webhook/start-webhooks.ts'
import type { MetricSink } from '../work-queue/metric-sink.ts'
import type { RunSettings } from './run-flags.ts'
import { aborted } from './server-part.ts'

/** What {@link webhookPart} takes. */
export interface WebhookPartOptions {
  readonly operator: Operator
  readonly settings: Pick<RunSettings, 'webhooks' | 'http2'>
  readonly api: ApiClient
  readonly namespace: string
  readonly clock: Clock
  readonly metrics: MetricSink
  readonly tracer: Tracer
  readonly health: HealthChecks
  readonly listen: StartWebhooksOptions['listen']
}

/** The part of a manager that serves webhooks as the settings say, and shows in readiness whether it does. */
export function webhookPart(options: WebhookPartOptions): Runnable {
  const { operator, settings, api, namespace, clock, metrics, tracer, health, listen } = options
  const { port, certificate, url } = settings.webhooks
  return {
    name: 'webhooks',
    phase: 'webhook',
    announcesReady: true,
    run: async ({ drain, abort, log, ready }) => {
      const how = url !== undefined ? { url } : certificate ? { folder: certificate } : { selfManaged: { namespace } }
      const common = { client: api, port, http2: settings.http2, clock, log, metrics, tracer, listen }
      const running = await startWebhooks(operator, { ...common, ...how })
      const checks = running.health.map((check) => health.addReadiness(check))
      const close = (): void => running.close()
      abort.addEventListener('abort', close, { once: true })
      try {
        ready()
        await aborted(drain)
      } finally {
        for (const check of checks) check[Symbol.dispose]()
        await running[Symbol.asyncDispose]()
        abort.removeEventListener('abort', close)
      }
    },
  }
}
