import type { ApiRequest, ApiResponse } from '@kubewright/api'

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
