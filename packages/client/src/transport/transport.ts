/** A request as a transport sends it. Whatever is sent is sent once: retrying is not a transport's business. */
export interface TransportRequest {
  readonly method: string
  /** Path and query, percent-encoded: `/api/v1/pods?limit=500`. */
  readonly path: string
  /** Lower-case names. A list sends the header as many times. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array | undefined
  /** Ends the request, and after it the body of the answer: both reject with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The body of an answer: read it once, as a whole or in pieces, or discard it. A compressed one arrives decompressed. */
export interface TransportBody extends AsyncIterable<Uint8Array> {
  /** Reads all of it. */
  bytes(): Promise<Uint8Array>
  /** Gives up on the rest; the other end is told to stop sending. */
  discard(): void
}

/** An answer, whatever its status: only a failure to get one rejects. */
export interface TransportResponse {
  readonly status: number
  /** Lower-case names; the values of a repeated header in order. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>
  readonly body: TransportBody
}

/** A request to turn a connection into one that carries messages both ways (a WebSocket). */
export interface UpgradeRequest extends Pick<TransportRequest, 'path' | 'headers' | 'signal'> {
  /** The protocols that the client speaks, best first. */
  readonly protocols: readonly string[]
}

/** Messages both ways. Iterating gives those of the server, once; it ends when the server closes. */
export interface MessageConnection extends AsyncIterable<Uint8Array> {
  /** The protocol that the server chose. */
  readonly protocol: string
  /** Resolves when the message has been handed to the system. */
  send(message: Uint8Array): Promise<void>
  close(): void
}

/**
 * The way to one API server: over HTTP, or straight into a handler within the process. What fails before an answer came, or within
 * its body, rejects with a `ConnectionError`; an abort rejects with the signal's reason. Disposing it closes its connections and
 * fails what is under way.
 */
export interface Transport extends AsyncDisposable {
  /** Where requests go, for messages: `https://10.0.0.1:443`. */
  readonly host: string
  send(request: TransportRequest): Promise<TransportResponse>
  /** Asks for a connection that carries messages; the answer, when the server declines. Not every transport can do it. */
  upgrade?(request: UpgradeRequest): Promise<MessageConnection | TransportResponse>
}
