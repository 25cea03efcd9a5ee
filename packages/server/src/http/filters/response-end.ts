import type { ApiRequest, ApiResponse } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import { settle } from '../../request/awaitable.ts'

/**
 * Calls back once when a response has left the server: when the client has taken it or has disconnected. Without a connection, that is
 * when a streamed body ends, and at once for other bodies. Returns the response to pass on.
 */
export function afterResponse(request: ApiRequest, response: ApiResponse, callback: () => void): ApiResponse {
  if (request.onSent) {
    request.onSent(callback)
    return response
  }
  const { body } = response
  // Nothing runs the body of a response to HEAD.
  if (typeof body !== 'function' || request.method === 'HEAD') {
    callback()
    return response
  }
  return {
    ...response,
    body: async (sink) => {
      try {
        await body(sink)
      } finally {
        callback()
      }
    },
  }
}

/** Handles a request, and calls back once when its response has left the server or the request has failed. */
export function releaseAfter(
  request: ApiRequest,
  handle: () => Awaitable<ApiResponse>,
  release: () => void,
): Awaitable<ApiResponse> {
  return settle(
    handle,
    (response) => afterResponse(request, response, release),
    (error) => {
      release()
      throw error
    },
  )
}
