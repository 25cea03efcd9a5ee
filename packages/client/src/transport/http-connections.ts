import type { Readable } from 'node:stream'
import type { TransportRequest } from './transport.ts'

/** An answer as it comes off a connection, its body not yet decoded. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  readonly stream: Readable
  /** Tells the other end to stop. */
  readonly cancel: () => void
  /** Once the stream has ended: why that was not the end of the body, if it was not. */
  readonly breakOff?: (() => Error | undefined) | undefined
}

/** Connections to one server with one set of certificates, speaking one protocol. */
export interface HttpConnections {
  send(request: TransportRequest): Promise<HttpAnswer>
  /** Whether nothing is under way, so that there is nothing to close after {@link retire}. */
  readonly isIdle: boolean
  /** Takes no new requests: closes what is idle now, and the rest when it is done. */
  retire(): void
  /** Closes everything at once. */
  close(): void
}
