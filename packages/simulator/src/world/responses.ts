import { newGenericServerResponse } from '@kubewright/api'
import { ConnectionError, type TransportBody, type TransportResponse } from '@kubewright/client'

/** A request that got no answer. */
export const connectionError = (host: string, problem: string, code: string): ConnectionError =>
  new ConnectionError(problem, { host, cause: Object.assign(new Error('simulated fault'), { code }) })

/** An error of the server. */
export function errorResponse(code: number, verb: string, message?: string): TransportResponse {
  const serverMessage = message ?? 'simulated fault'
  const { status } = newGenericServerResponse({ code, verb, serverMessage })
  const retry: Record<string, string[]> = code === 429 ? { 'retry-after': ['1'] } : {}
  const headers = { 'content-type': ['application/json'], ...retry }
  return { status: code, headers, body: bodyOf(Buffer.from(JSON.stringify({ ...status, ...expired(code, message) }))) }
}

const expired = (code: number, message: string | undefined): object =>
  code === 410 ? { reason: 'Expired', message } : {}

/** A body of known bytes. */
export function bodyOf(bytes: Uint8Array): TransportBody {
  return {
    bytes: async () => bytes,
    discard: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes
    },
  }
}
