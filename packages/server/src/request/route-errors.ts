import { ApiError } from '@kubewright/api'

/** 404: the router has no route for the path. */
export function notServed(): ApiError {
  return routeError(404, 'NotFound', 'the server could not find the requested resource')
}

/** 405: the router has a route for the path, but not for the method. */
export function notAllowed(): ApiError {
  return routeError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource')
}

/** 406: the route serves none of the media types that the client accepts. */
export function notAcceptable(available: readonly string[]): ApiError {
  const message = `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`
  return routeError(406, 'NotAcceptable', message)
}

/** Throws {@link notAcceptable} unless the client accepts the only media type of a route. */
export function checkAccept(accept: string | undefined, served: string): void {
  const ranges = (accept || '*/*').split(',').map((range) => range.split(';', 1)[0]!.trim())
  if (!ranges.some((type) => type === '*/*' || type === served)) throw notAcceptable([served])
}

/** 415: the route does not accept the media type of the body. */
export function unsupportedMediaType(): ApiError {
  return routeError(415, 'UnsupportedMediaType', '415: Unsupported Media Type')
}

type Reason = 'NotFound' | 'MethodNotAllowed' | 'NotAcceptable' | 'UnsupportedMediaType'

/** An error of the router. Its details are empty, because the router knows no kinds. */
function routeError(code: number, reason: Reason, message: string): ApiError {
  const head = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' } as const
  return new ApiError({ ...head, message, reason, details: {}, code })
}
