import type { Readable } from 'node:stream'
import type { TransportRequest } from './transport.ts'

/** A response as received from a connection, with its body not yet decompressed. */
export interface HttpResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  readonly stream: Readable
  /** Tells the server to stop sending. */
  readonly cancel: () => void
  /** After the stream has ended: the error if the body is incomplete. */
  readonly truncation?: (() => Error | undefined) | undefined
}

/** The connections to one server with one set of certificates and one protocol. */
export interface HttpConnections {
  send(request: TransportRequest): Promise<HttpResponse>
  /** Whether no request is in flight. If so, nothing is left to close after {@link retire}. */
  readonly isIdle: boolean
  /** Accepts no new requests. Closes idle connections now, and the others when their requests are done. */
  retire(): void
  /** Closes everything immediately. */
  close(): void
}
