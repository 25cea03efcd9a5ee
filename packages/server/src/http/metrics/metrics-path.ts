import { expositionTypes } from '@kubewright/base'
import type { PathHandler } from '../../request/path-handler.ts'
import { respondText } from '../../request/respond.ts'
import type { ServerMetrics } from './server-metrics.ts'

/** Serves /metrics. */
export function metricsPath(metrics: ServerMetrics): PathHandler {
  return ({ info, request }) => {
    if (info.path !== '/metrics' || request.method !== 'GET') return undefined
    return metrics.render().then((text) => respondText(200, text, expositionTypes.text))
  }
}
