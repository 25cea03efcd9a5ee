import { acceptedFormat, expositionTypes, type MetricRegistry } from '@kubewright/base'
import type { HttpHandler } from './http/http-handler.ts'
import { textResponse } from './http/http-handler.ts'

/** Serves a registry at `/metrics`, in the format that the Accept header requests. */
export function metricsHandler(registry: MetricRegistry): HttpHandler {
  return ({ method, path, headers }) => {
    if (path !== '/metrics') return textResponse(404, '404 page not found\n')
    if (method !== 'GET' && method !== 'HEAD') return textResponse(405, 'Method Not Allowed\n')
    const format = acceptedFormat(headers['accept'])
    return { status: 200, headers: { 'content-type': expositionTypes[format] }, body: registry.text(format) }
  }
}
