import type { Readable } from 'node:stream'
import type { TransportRequest } from './transport.ts'

/** An answer as it comes off a connection, its body not yet decoded. */
export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  readonly stream: Readable
  /** Tells the other end to stop. */
  readonly cancel: () => void
}

/** Connections to one server with one set of certificates, speaking one protocol. */
export interface HttpConnections {
  send(request: TransportRequest): Promise<HttpAnswer>
  /** Takes no new requests: closes what is idle now, and the rest when it is done. */
  retire(): void
  /** Closes everything at once. */
  close(): void
}
