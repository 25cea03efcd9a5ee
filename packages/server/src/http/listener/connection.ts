import type { RequestPeer } from '@kubewright/api'

/** The transport of a connection: an HTTP/2 session or the socket of HTTP/1.1. */
interface ConnectionTransport {
  /** Closes the transport when its last bytes have left. */
  readonly close: () => void
  /** Whether `close` lets requests in progress end, as in HTTP/2. */
  readonly announcesEnd?: boolean | undefined
  readonly destroy: () => void
}

/** Time limits of a connection without a request, in milliseconds. */
interface ConnectionLimits {
  /** From the TLS handshake to the complete header of the first request. */
  readonly headersTimeout: number
  /** After the last response. */
  readonly idleTimeout: number
}

/**
 * A connection, which is closed when it has had no request for a while. Only requests with a complete header count: other traffic, such
 * as pings or a header block without end, does not keep a connection open. A watch without events does.
 */
export class Connection {
  readonly #transport: ConnectionTransport
  readonly #readPeer: () => RequestPeer
  #peer: RequestPeer | undefined
  /** Number of requests in progress. */
  #open = 0
  #isUsed = false
  #idleFor = 0

  constructor(transport: ConnectionTransport, readPeer: () => RequestPeer) {
    this.#transport = transport
    this.#readPeer = readPeer
  }

  begin(): void {
    this.#open++
    this.#isUsed = true
  }

  end(): void {
    this.#open--
    this.#idleFor = 0
  }

  /** Closes the connection: at once when it is idle or when it can announce the end, otherwise after its last response. */
  drain(): void {
    if (this.#open === 0 || this.#transport.announcesEnd) this.#transport.close()
  }

  /** The client. Its certificate is parsed once per connection. */
  get peer(): RequestPeer {
    return (this.#peer ??= this.#readPeer())
  }

  /** The listener calls it every `period` milliseconds. */
  sweep(period: number, { headersTimeout, idleTimeout }: ConnectionLimits): void {
    if (this.#open > 0) return
    this.#idleFor += period
    if (!this.#isUsed && this.#idleFor >= headersTimeout) this.#transport.destroy()
    // A client that does not answer the close is cut one period later.
    else if (this.#idleFor >= idleTimeout + period) this.#transport.destroy()
    else if (this.#idleFor >= idleTimeout) this.#transport.close()
  }
}
