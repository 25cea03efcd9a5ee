import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { Writable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { type Clock, every, type Timer } from '@kubewright/base'
import { Connection } from './connection.ts'
import { Exchange } from './exchange.ts'
import { HeldBodies } from './held-bodies.ts'
import { peerOf } from './request-peer.ts'

/** Time limits in milliseconds. */
interface TimeLimits {
  readonly idleTimeout: number
  readonly headersTimeout: number
  readonly sendTimeout: number
}

/** The open connections of a listener and the exchanges on them. */
export class OpenConnections {
  readonly #exchanges = new Set<Exchange>()
  readonly #held: HeldBodies
  readonly #connections = new Set<Connection>()
  readonly #byOwner = new WeakMap<object, Connection>()

  /** @param waitingBytes the bytes of response bodies that may wait for their clients, of all connections together */
  constructor(waitingBytes: number) {
    this.#held = new HeldBodies(waitingBytes)
  }

  /** The bytes of response bodies that wait for their clients. */
  get heldBytes(): number {
    return this.#held.bytes
  }

  /** Adds a connection of HTTP/2. */
  addSession(session: ServerHttp2Session): void {
    const transport = { close: () => session.close(), destroy: () => session.destroy() }
    this.#add(session, new Connection(transport, () => peerOf(session.socket as TLSSocket)))
  }

  /** Adds a connection of HTTP/1.1. */
  addSocket(socket: TLSSocket): void {
    const transport = { close: () => socket.destroySoon(), destroy: () => socket.destroy() }
    this.#add(socket, new Connection(transport, () => peerOf(socket)))
  }

  /** The connection of a session or a socket that was added. */
  of(owner: object): Connection | undefined {
    return this.#byOwner.get(owner)
  }

  /** Begins an exchange on a connection, which ends when its output is closed. */
  begin(connection: Connection | undefined, output: Writable): Exchange {
    connection?.begin()
    const ended = (): void => {
      this.#exchanges.delete(exchange)
      connection?.end()
    }
    const exchange = new Exchange(output, () => resetOutput(output, constants.NGHTTP2_CANCEL), ended, this.#held)
    this.#exchanges.add(exchange)
    return exchange
  }

  /** Tells the handlers of all requests to stop. */
  cancelRequests(): void {
    for (const exchange of this.#exchanges) exchange.cancel()
  }

  /** Enforces time limits. Each is exceeded by up to a quarter of the shortest. */
  sweepEvery(clock: Clock, { idleTimeout, headersTimeout, sendTimeout }: TimeLimits): Timer {
    const period = Math.min(idleTimeout, headersTimeout, sendTimeout) / 4
    const sweep = (): void => {
      for (const exchange of this.#exchanges) exchange.sweep(period, sendTimeout)
      for (const connection of this.#connections) connection.sweep(period, { headersTimeout, idleTimeout })
    }
    return every(clock, period, sweep, 'connection limits')
  }

  #add(owner: ServerHttp2Session | TLSSocket, connection: Connection): void {
    this.#connections.add(connection)
    this.#byOwner.set(owner, connection)
    owner.once('close', () => this.#connections.delete(connection))
  }
}

/** Drops a response. A stream that ends without an error code would look complete to its client. */
export function resetOutput(output: Writable | ServerHttp2Stream, code: number): void {
  if ('rstCode' in output) output.close(output.writableFinished ? constants.NGHTTP2_NO_ERROR : code)
  output.destroy()
}
