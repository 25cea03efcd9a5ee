import type { IncomingHttpHeaders } from 'node:http'
import {
  type ApiError,
  type ApiRequest,
  newBadRequest,
  newRequestEntityTooLarge,
  newTooManyRequests,
  type RequestPeer,
} from '@kubewright/api'
import type { BodyRefusal } from '@kubewright/base'
import { parseQuery } from '../../request/parse-query.ts'
import { requestInfoOf } from '../../request/request-info.ts'
import { isLongRunning } from '../filters/request-class.ts'
import type { Exchange } from './exchange.ts'

/** The parts of a request that HTTP/1.1 and HTTP/2 share. */
export interface IncomingRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly peer: RequestPeer
  /** Reads the body. */
  readonly body: ApiRequest['body']
}

/**
 * The request for the handler. A class, because an object literal with a getter has a hidden class of its own for every request, which
 * takes several microseconds to create and slows down every access.
 */
class ReceivedRequest implements ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: ApiRequest['headers']
  readonly rawHeaders: readonly string[]
  readonly body: ApiRequest['body']
  readonly onSent: NonNullable<ApiRequest['onSent']>
  readonly onCanceled: NonNullable<ApiRequest['onCanceled']>
  readonly peer: RequestPeer
  readonly #exchange: Exchange

  constructor({ method, url, headers, rawHeaders, peer, body }: IncomingRequest, exchange: Exchange) {
    const at = url.indexOf('?')
    this.method = method
    this.path = at < 0 ? url : url.slice(0, at)
    this.query = parseQuery(at < 0 ? '' : url.slice(at + 1))
    this.headers = joined(headers)
    this.rawHeaders = rawHeaders
    this.body = body
    this.onSent = exchange.onSent
    this.onCanceled = exchange.onCanceled
    this.peer = peer
    this.#exchange = exchange
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }
}

/** Returns the request for the handler. Copies of it must set `signal`, which is a getter. */
export function toApiRequest(request: IncomingRequest, exchange: Exchange): ApiRequest {
  return new ReceivedRequest(request, exchange)
}

/** Whether a request lasts as long as the client wants, such as a watch. A malformed path is none. */
export function isLongRunningUrl(method: string, url: string): boolean {
  const at = url.indexOf('?')
  try {
    const query = parseQuery(at < 0 ? '' : url.slice(at + 1))
    return isLongRunning(requestInfoOf(method, at < 0 ? url : url.slice(0, at), query))
  } catch {
    return false
  }
}

/** Node joins repeated headers, except for `set-cookie`, which requests do not have. */
function joined(headers: IncomingHttpHeaders): ApiRequest['headers'] {
  const cookies = headers['set-cookie']
  return (cookies ? { ...headers, 'set-cookie': cookies.join(', ') } : headers) as ApiRequest['headers']
}

/** The error of a request whose body was not read. */
export function bodyError(refusal: BodyRefusal, limit: number): ApiError {
  if (refusal === 'too large') return newRequestEntityTooLarge(`limit is ${limit}`)
  if (refusal === 'over budget') return newTooManyRequests('the bodies of other requests fill the memory', 1)
  return newBadRequest('unexpected EOF')
}
