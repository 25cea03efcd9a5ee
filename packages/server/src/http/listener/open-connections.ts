import type { Writable } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { BodyBudget, type BodyBudgetLimits, type Clock, every, type Timer } from '@kubewright/base'
import type { Http2Connection } from '../http2/http2-connection.ts'
import { Connection } from './connection.ts'
import { Exchange } from './exchange.ts'
import { HeldBodies } from './held-bodies.ts'
import { NodeOutput, type Output } from './output.ts'
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
  readonly #bySocket = new WeakMap<object, Connection>()
  #isDraining = false
  #onIdle: () => void = () => undefined

  /** The request bodies in memory. */
  readonly bodies: BodyBudget

  /**
   * @param waitingBytes the bytes of response bodies that may wait for their clients, of all connections together
   * @param bodyLimits the bytes of request bodies that may be in memory
   */
  constructor(waitingBytes: number, bodyLimits: BodyBudgetLimits) {
    this.#held = new HeldBodies(waitingBytes)
    this.bodies = new BodyBudget(bodyLimits)
  }

  /** The bytes of response bodies that wait for their clients. */
  get heldBytes(): number {
    return this.#held.bytes
  }

  /** Adds a connection of HTTP/2. When it is closed, the client sends further requests on another one; those in progress continue. */
  addHttp2(socket: TLSSocket, http2: Http2Connection): Connection {
    const transport = { close: () => http2.close(), destroy: () => http2.destroy(), announcesEnd: true }
    return this.#add(socket, new Connection(transport, () => peerOf(socket)))
  }

  /** Adds a connection of HTTP/1.1. */
  addSocket(socket: TLSSocket): void {
    const transport = { close: () => socket.destroySoon(), destroy: () => socket.destroy() }
    this.#add(socket, new Connection(transport, () => peerOf(socket)))
  }

  /** The connection of a socket that was added. */
  of(socket: object): Connection | undefined {
    return this.#bySocket.get(socket)
  }

  /**
   * Begins an exchange on a connection, which ends when its output is closed. A long-running one that arrives on an open connection while
   * the listener drains is canceled at once: waiting for it would take the whole drain timeout.
   */
  begin(
    connection: Connection | undefined,
    output: Writable | Output,
    isLongRunning: () => boolean = () => false,
  ): Exchange {
    connection?.begin()
    const ended = (exchange: Exchange): void => {
      this.#exchanges.delete(exchange)
      connection?.end()
      if (this.#exchanges.size === 0) this.#onIdle()
    }
    const exchange = new Exchange('observe' in output ? output : new NodeOutput(output), ended, this.#held)
    exchange.isLongRunning = isLongRunning
    this.#exchanges.add(exchange)
    if (this.#isDraining && isLongRunning()) exchange.cancel()
    return exchange
  }

  /** Whether the listener is closing: HTTP/1.1 responses then end their connection. */
  get isDraining(): boolean {
    return this.#isDraining
  }

  /**
   * Ends long-running requests, such as watches, and closes each connection after the requests in progress on it. Resolves when no
   * request is left, at the latest after `timeout` milliseconds.
   */
  async drain(clock: Clock, timeout: number): Promise<void> {
    this.#isDraining = true
    for (const exchange of this.#exchanges) if (exchange.isLongRunning()) exchange.cancel()
    for (const connection of this.#connections) connection.drain()
    if (this.#exchanges.size === 0 || timeout <= 0) return
    const limit = new AbortController()
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    const timer = clock.sleep(timeout, { signal: limit.signal }).catch(() => undefined)
    await Promise.race([idle, timer])
    limit.abort()
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

  #add(socket: TLSSocket, connection: Connection): Connection {
    this.#connections.add(connection)
    this.#bySocket.set(socket, connection)
    socket.once('close', () => this.#connections.delete(connection))
    return connection
  }
}
