import type { LazySignal } from '@kubewright/base'

/** A request for a transport. A transport sends it once; retries are the caller's responsibility. */
export interface TransportRequest {
  readonly method: string
  /** Path and query, percent-encoded: `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Lower-case names. The values of a list are sent as repeated headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  readonly body?: Uint8Array | undefined
  /** Aborts the request and, later, reading the body: both reject with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The body of a response. Read it once, as a whole or in chunks, or discard it. A compressed body is decompressed. */
export interface TransportBody extends AsyncIterable<Uint8Array> {
  /** Reads the complete body. */
  bytes(): Promise<Uint8Array>
  /** Discards the rest of the body and makes the sender stop. */
  discard(): void
}

/** A response of any status. Only a failure to get a response rejects. */
export interface TransportResponse {
  readonly status: number
  /** Lower-case names. The values of repeated headers are in order. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  readonly body: TransportBody
}

/** A request to upgrade a connection to one that carries messages in both directions (a WebSocket). */
export interface UpgradeRequest extends Pick<TransportRequest, 'path' | 'headers' | 'signal'> {
  /** The protocols that the client supports, preferred first. */
  readonly protocols: readonly string[]
}

/**
 * A bidirectional message connection. Iterate once for the messages of the server; the iteration ends when one side
 * closes.
 */
export interface MessageConnection extends AsyncIterable<Uint8Array> {
  /** The protocol that the server selected. */
  readonly protocol: string
  /** Resolves when the message was passed to the operating system. */
  send(message: Uint8Array): Promise<void>
  close(): void
}

/**
 * A connection to one API server, over HTTP or directly to a handler in the process. A failure before or during the
 * response rejects with a `ConnectionError`; an abort rejects with the signal's reason. Disposing it closes its
 * connections and fails the requests in flight.
 */
export interface Transport extends AsyncDisposable {
  /** The target of requests, for messages: `https://10.0.0.1:443`. */
  readonly host: string
  /**
   * Sends a request. `limited` is the source of the signal of the request, for transports that can do without the signal: it is created
   * when it is first read. A transport that passes the request to another one may leave it out.
   */
  send(request: TransportRequest, limited?: LazySignal): Promise<TransportResponse>
  /**
   * Requests a message connection. Resolves with the response when the server declines. Not every transport supports
   * it.
   */
  upgrade?(request: UpgradeRequest): Promise<MessageConnection | TransportResponse>
}
