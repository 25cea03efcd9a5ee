import type { MetricRegistry } from '@kubewright/base'
import type { OperatorHandler } from '../define/operator-settings.ts'
import { type HttpHandler, textResponse } from '../serving/http/http-handler.ts'
import { metricsHandler } from '../serving/metrics-handler.ts'
import type { Manager } from './manager.ts'

/** Serves the metrics of a manager at `/metrics`, and the `metricsHandlers` of its operator at their paths. */
export function metricsServerHandler(
  { operator, cluster }: Pick<Manager, 'operator' | 'cluster'>,
  registry: MetricRegistry,
): HttpHandler {
  const metrics = metricsHandler(registry)
  const handlers = Object.entries(operator?.metricsHandlers ?? {}).sort(([a], [b]) => b.length - a.length)
  const find = (path: string): OperatorHandler | undefined =>
    handlers.find(([at]) => path === at || (at.endsWith('/') && path.startsWith(at)))?.[1]
  return async (request) => {
    const handler = find(request.path)
    if (handler === undefined) return metrics(request)
    const response = await handler({ ...request, client: cluster.client })
    return typeof response === 'string' ? textResponse(200, response) : response
  }
}
