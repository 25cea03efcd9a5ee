import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { type ApiRequest, newBadRequest, newRequestEntityTooLarge, type RequestPeer } from '@kubewright/api'
import { parseQuery } from '../../request/parse-query.ts'

const canceled = new Error('The client disconnected or the server is stopping')

/**
 * Aborts the signal of a request when the client disconnects or the server stops. The signal is created on first use, because most
 * handlers never read it.
 */
export class Cancellation {
  /** Set once the response is complete; there is nothing left to cancel. */
  complete = false
  #canceled = false
  #controller: AbortController | undefined

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#canceled) this.#controller.abort(canceled)
    }
    return this.#controller.signal
  }

  cancel(): void {
    if (this.complete || this.#canceled) return
    this.#canceled = true
    this.#controller?.abort(canceled)
  }
}

/** The parts of a request that HTTP/1.1 and HTTP/2 share. */
export interface IncomingRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly peer: RequestPeer
  readonly body: Readable
}

/** The request for the handler. */
export function toApiRequest(
  { method, url, headers, rawHeaders, peer, body }: IncomingRequest,
  cancellation: Cancellation,
): ApiRequest {
  const at = url.indexOf('?')
  return {
    method,
    path: at < 0 ? url : url.slice(0, at),
    query: parseQuery(at < 0 ? '' : url.slice(at + 1)),
    headers: joined(headers),
    rawHeaders,
    body: (limit) => readBody(body, limit),
    get signal() {
      return cancellation.signal
    },
    peer,
  }
}

/** Node joins repeated headers, except for `set-cookie`, which requests do not have. */
function joined(headers: IncomingHttpHeaders): ApiRequest['headers'] {
  const cookies = headers['set-cookie']
  return (cookies ? { ...headers, 'set-cookie': cookies.join(', ') } : headers) as ApiRequest['headers']
}

function readBody(request: Readable, limit: number): Promise<Uint8Array> {
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
