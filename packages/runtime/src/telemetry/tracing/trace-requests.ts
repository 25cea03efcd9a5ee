import type { RestClientOptions, RestRequest } from '@kubewright/client'
import { noTracer, type SpanAttributes, type Tracer } from './tracer.ts'

/**
 * Traces the calls of a client: what its option `around` takes. Each becomes a span under the names of OpenTelemetry's conventions,
 * below the span in which it was made, such as that of a reconcile.
 */
export function traceRequests(tracer: Tracer): NonNullable<RestClientOptions['around']> {
  if (tracer === noTracer) return (_, call) => call()
  return (request, call) => tracer.span(nameOf(request), attributesOf(request), call)
}

function nameOf({ method, resource }: RestRequest): string {
  return resource === undefined ? method : `${method} ${resource.resource}`
}

function attributesOf({ method, path, resource, name }: RestRequest): SpanAttributes {
  return {
    'http.request.method': method,
    'url.path': path,
    ...(resource === undefined ? {} : { 'k8s.resource.group': resource.group, 'k8s.resource.name': resource.resource }),
    ...(name === undefined ? {} : { 'k8s.object.name': name }),
  }
}
