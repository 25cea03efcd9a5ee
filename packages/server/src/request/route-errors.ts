import { ApiError } from '@kubewright/api'

/** No route leads to what was asked for. */
export function notServed(): ApiError {
  return routeError(404, 'NotFound', 'the server could not find the requested resource')
}

/** A route leads there, with other methods. */
export function notAllowed(): ApiError {
  return routeError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource')
}

/** No form that the route has is one that the client takes. */
export function notAcceptable(available: readonly string[]): ApiError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`
  return routeError(406, 'NotAcceptable', message)
}

/** Refuses a client that does not take the one form that a route has. */
export function checkAccept(accept: string | undefined, served: string): void {
  const ranges = (accept || '*/*').split(',').map((range) => range.split(';', 1)[0]!.trim())
  if (!ranges.some((type) => type === '*/*' || type === served)) throw notAcceptable([served])
}

/** The route does not read what the client sends. */
export function unsupportedMediaType(): ApiError {
  return routeError(415, 'UnsupportedMediaType', '415: Unsupported Media Type')
}

type Reason = 'NotFound' | 'MethodNotAllowed' | 'NotAcceptable' | 'UnsupportedMediaType'

/** An error as the router words it, which knows neither kinds nor versions: its details are empty. */
function routeError(code: number, reason: Reason, message: string): ApiError {
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' } as const
  return new ApiError({ ...head, message, reason, details: {}, code })
}
