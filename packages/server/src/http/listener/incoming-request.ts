import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { type ApiRequest, newBadRequest, newRequestEntityTooLarge, type RequestPeer } from '@kubewright/api'
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
  /** The body, or a function that reads it. */
  readonly body: Readable | ((limit: number) => Promise<Uint8Array>)
}

/** The request for the handler. */
export function toApiRequest(
  { method, url, headers, rawHeaders, peer, body }: IncomingRequest,
  exchange: Exchange,
): ApiRequest {
  const at = url.indexOf('?')
  return {
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: parseQuery(at < 0 ? '' : url.slice(at + 1)),
    headers: joined(headers),
    rawHeaders,
    body: typeof body === 'function' ? body : (limit) => readBody(body, limit),
    get signal() {
      return exchange.signal
    },
    onSent: exchange.onSent,
    peer,
  }
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

function readBody(request: Readable, limit: number): Promise<Uint8Array> {
  // An empty body can end before anything reads it.
  if (request.readableEnded) return Promise.resolve(Buffer.alloc(0))
  if (request.destroyed) return Promise.reject(newBadRequest('unexpected EOF'))
  const chunks: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) chunks.push(chunk)
      else {
        // Drain the rest of the body, so that the client reads the response.
        chunks.length = 0
        reject(newRequestEntityTooLarge(`limit is ${limit}`))
      }
    })
    request.once('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)))
    request.once('error', reject)
    request.once('aborted', () => reject(newBadRequest('unexpected EOF')))
  })
}
