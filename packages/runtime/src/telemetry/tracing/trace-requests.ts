import type { RestClientOptions, RestRequest } from '@kubewright/client'
import type { SpanAttributes, Tracer } from './tracer.ts'

/**
 * Traces the requests of a client; pass the result as the client's `around` option. Each request becomes a child of the
 * current span, such as that of a reconcile, with attributes named as in OpenTelemetry's conventions.
 */
export function traceRequests(tracer: Tracer): NonNullable<RestClientOptions['around']> {
  return (request, call) =>
    tracer.isActive === false ? call() : tracer.span(nameOf(request), attributesOf(request), call)
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
