import type { Duplex } from 'node:stream'

/** Who is at the other end of a connection. */
export interface Peer {
  /** Subject of a client certificate that the listener has verified. */
  readonly certificate?: {
    readonly commonName: string
    readonly organizations: readonly string[]
    readonly fingerprint?: string
  }
  /** Why a certificate that the client showed is not trusted. */
  readonly certificateError?: string
  readonly address: string
}

/** A request, however it arrived: over a socket or by a call within the process. */
export interface ApiRequest {
  readonly method: string
  /** The path as sent, still percent-encoded, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  /** Lower-case names; repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Names and values in turn, as they were sent: the only form that tells a repeated header from a value with a comma. */
  readonly rawHeaders?: readonly string[]
  /** Reads the whole body; rejects when it is larger than the limit. */
  readonly body: (limitBytes: number) => Promise<Uint8Array>
  /** Aborted when the client goes away or the server stops. */
  readonly signal: AbortSignal
  readonly peer: Peer
}

/** Where a streamed body goes. */
export interface Sink {
  /** Hands bytes over. False means that the receiver lags: wait for {@link drained} or give up. */
  write(chunk: Uint8Array): boolean
  /** Resolves when everything handed over so far has left, or the receiver is gone. */
  drained(): Promise<void>
}

/** An answer. A streamed body ends when its promise resolves. */
export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: Uint8Array | ((sink: Sink) => Promise<void>)
  /** With status 101: takes over the connection, which speaks another protocol from now on, and is responsible for its end. */
  readonly upgraded?: (connection: Duplex) => void
}

/** The whole server as a function: what the listener and the in-process transport both call. */
export type ApiHandler = (request: ApiRequest) => Promise<ApiResponse>
