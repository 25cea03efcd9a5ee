import { ApiError, newGenericServerResponse, statusFromJson } from '@kubewright/api'
import type { TransportResponse } from '../transport/transport.ts'
import type { RestRequest } from './rest-client.ts'

/** The maximum part of a response without a Status that is included in a message, as in client-go. */
const maxTextBytes = 2048

/** The error for an unsuccessful response: from the Status in its body or, without one, from its HTTP code. */
export async function responseError(response: TransportResponse, request: RestRequest): Promise<ApiError> {
  const { status: code, headers } = response
  const bytes = Buffer.from(await response.body.bytes())
  const contentType = headers['content-type']?.[0] ?? ''
  const status = contentType.startsWith('application/json') ? statusFromJson(parsed(bytes)) : undefined
  if (status) return new ApiError(status.code === undefined ? { ...status, code } : status)
  const isText = contentType === '' || contentType.startsWith('text/')
  return newGenericServerResponse({
    code,
    verb: request.method,
    resource: request.resource,
    name: request.name,
    serverMessage: isText ? bytes.toString('utf8', 0, maxTextBytes).trim() : 'unknown',
    retryAfterSeconds: retryAfterSeconds(response),
    isUnexpectedResponse: true,
  })
}

/** The seconds of a `Retry-After` header; undefined when it is missing or a date, which API servers do not send. */
export function retryAfterSeconds({ headers }: TransportResponse): number | undefined {
  const text = headers['retry-after']?.[0]
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
