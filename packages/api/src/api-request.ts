import type { Duplex } from 'node:stream'

/** The client at the other end of a connection. */
export interface RequestPeer {
  readonly address: string
  /** The subject of a client certificate that the listener has verified. */
  readonly certificate?:
    | {
        readonly commonName: string
        readonly organizations: readonly string[]
        readonly fingerprint?: string | undefined
      }
    | undefined
  /**
   * Whether the client runs in the process of the server. It then receives bookmarks only after changes, not as a sign
   * of life. @default false
   */
  readonly inProcess?: boolean | undefined
  /** Why the client's certificate is not trusted. */
  readonly certificateError?: string | undefined
}

/**
 * A request to an API server, received over a socket or by a call within the process. The in-process transport of the
 * client creates it, and the server handles it.
 */
export interface ApiRequest {
  readonly method: string
  /** The path as sent, still percent-encoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Lower-case names; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Alternating names and values as sent: the only form that distinguishes a repeated header from a value with a comma. */
  readonly rawHeaders?: readonly string[] | undefined
  /** Reads the whole body. Rejects when it is larger than the limit. */
  readonly body: (limitBytes: number) => Promise<Uint8Array>
  /** Aborted when the client disconnects or the server stops. */
  readonly signal: AbortSignal
  /**
   * Calls back once: when the client has taken the whole response, or the connection is closed, whichever comes first. Absent where
   * a response is handed over as a value, as in the in-process transport.
   */
  readonly onSent?: ((callback: () => void) => void) | undefined
  /**
   * Calls back once, when `signal` aborts, without creating the signal: it would be the largest object of an idle watch. Absent where the
   * signal exists anyway, as in the in-process transport.
   */
  readonly onCanceled?: ((callback: () => void) => void) | undefined
  readonly peer: RequestPeer
}

/** Receives a streamed body. */
export interface BodySink {
  /**
   * Sends bytes, which the caller must not change afterwards. False means that the receiver lags: wait for
   * {@link drained} or stop.
   */
  write(chunk: Uint8Array): boolean
  /** Resolves when all bytes written so far have left, or the receiver is gone. */
  drained(): Promise<void>
}

/** A response. A streamed body ends when its promise resolves. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array | ((sink: BodySink) => Promise<void>) | undefined
  /** With status 101: takes over the connection, which speaks another protocol from then on, and must close it. */
  readonly upgraded?: ((connection: Duplex) => void) | undefined
}

/** An API server as a function, which listeners and the in-process transport call. */
export type ApiHandler = (request: ApiRequest) => Promise<ApiResponse>
