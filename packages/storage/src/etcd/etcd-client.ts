import { type Clock, type Duration, toMillis } from '@kubewright/base'
import { ProtoMessage, WireReader } from '@kubewright/base/protobuf'
import { StorageError } from '../store/storage-error.ts'
import { type DuplexStream, GrpcConnection, type Metadata, type StreamEvents } from './grpc-connection.ts'
import { GrpcError, grpcStatus } from './grpc-error.ts'
import { authenticateRequest, readText } from './messages.ts'

/** Certificates and keys in PEM form. */
export interface EtcdTls {
  /** The CA that signed the servers' certificates. @default the CAs of Node */
  readonly ca?: string | Buffer | undefined
  /** The client certificate, when the servers require one. */
  readonly cert?: string | Buffer | undefined
  /** The private key of the client certificate. */
  readonly key?: string | Buffer | undefined
  /** The name that the servers' certificates must have. @default the host of the endpoint */
  readonly serverName?: string | undefined
}

/** Options of {@link EtcdClient}. */
export interface EtcdClientOptions {
  readonly endpoints: readonly string[]
  readonly clock: Clock
  readonly tls: EtcdTls | undefined
  readonly auth: { readonly username: string; readonly password: string } | undefined
  readonly connectTimeout: Duration
  readonly requestTimeout: Duration
  readonly keepAliveInterval: Duration
}

const authenticatePath = '/etcdserverpb.Auth/Authenticate'
const statusPath = '/etcdserverpb.Maintenance/Status'
const watchPath = '/etcdserverpb.Watch/Watch'

/**
 * Errors that a server returns before it proposes a write to the cluster, so that the write is known not to have been
 * made.
 */
const neverProposed: ReadonlySet<string> = new Set(['etcdserver: no leader', 'etcdserver: not capable'])

/** The shortest time limit of an attempt, in milliseconds. */
const minTimeout = 100

/**
 * A client of an etcd cluster. It uses one endpoint until that fails, then the next one. Retry guarantee: a request
 * that may have changed data is never sent twice. A write is retried on another endpoint only when the failure proves
 * that the first one did not execute it; otherwise it rejects with `KW_STORAGE_UNCERTAIN`.
 */
export class EtcdClient {
  readonly #connections: readonly GrpcConnection[]
  readonly #auth: EtcdClientOptions['auth']
  readonly #clock: Clock
  readonly #timeout: number
  readonly #versions = new WeakMap<object, Promise<string>>()
  #current = 0
  #token: Promise<string> | undefined
  #closed = false
  readonly #writes = new Set<Promise<unknown>>()

  constructor({ endpoints, clock, tls = {}, auth, ...options }: EtcdClientOptions) {
    const { serverName, ...pem } = tls
    this.#connections = endpoints.map(
      (url) =>
        new GrpcConnection(url, {
          clock,
          connectTimeout: toMillis(options.connectTimeout),
          keepAliveInterval: toMillis(options.keepAliveInterval),
          tls: serverName === undefined ? pem : { ...pem, servername: serverName },
        }),
    )
    this.#auth = auth
    this.#clock = clock
    this.#timeout = toMillis(options.requestTimeout)
  }

  /** The addresses of the cluster, for messages. */
  get address(): string {
    return this.#connections.map((connection) => connection.url).join(', ')
  }

  get closed(): boolean {
    return this.#closed
  }

  /** Tries the endpoints in turn until one responds. Rejects with a {@link GrpcError} when that one rejects the request. */
  read(path: string, message: ProtoMessage): Promise<WireReader> {
    return this.#call(path, message, { write: false, anonymous: false })
  }

  /** Like `read`, but stops at the first endpoint that may have executed the request. */
  async write(path: string, message: ProtoMessage): Promise<WireReader> {
    const call = this.#call(path, message, { write: true, anonymous: false })
    this.#writes.add(call)
    try {
      return await call
    } finally {
      this.#writes.delete(call)
    }
  }

  /** Opens a watch stream on the current endpoint; `version` is the version of its server. */
  async watch(events: StreamEvents): Promise<{ stream: DuplexStream; version: string }> {
    const index = this.#current
    const connection = this.#connections[index]!
    const ended = (error: GrpcError): void => {
      this.#leave(index)
      events.end(error)
    }
    try {
      const version = await this.#version(connection)
      // Without this, a server that lost its quorum would keep the stream open silently.
      const metadata = { ...(await this.#metadata()), hasleader: 'true' }
      const stream = await connection.open(watchPath, metadata, { message: events.message, end: ended })
      return { stream, version }
    } catch (error) {
      this.#leave(index)
      throw error
    }
  }

  /** Rejects further calls, waits for the writes in flight and ends the rest. */
  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#writes)
    for (const connection of this.#connections) connection.close()
  }

  async #call(
    path: string,
    message: ProtoMessage,
    { write, anonymous }: { readonly write: boolean; readonly anonymous: boolean },
  ): Promise<WireReader> {
    const failures: GrpcError[] = []
    const first = this.#current
    const until = this.#clock.monotonic() + this.#timeout
    let mayRenew = this.#auth !== undefined && !anonymous
    for (let tried = 0; tried < this.#connections.length; ) {
      this.#assertOpen()
      const index = (first + tried) % this.#connections.length
      const connection = this.#connections[index]!
      try {
        const metadata = anonymous ? {} : await this.#metadata()
        // A read leaves time for the other endpoints. A write does not, because it is not repeated once it was sent.
        const left = until - this.#clock.monotonic()
        const isLast = write || tried === this.#connections.length - 1
        const timeout = Math.max(minTimeout, Math.ceil(isLast ? left : left / 2))
        return new WireReader(await connection.unary(path, message, metadata, timeout))
      } catch (error) {
        if (!(error instanceof GrpcError)) throw error
        if (mayRenew && isStaleToken(error)) {
          mayRenew = false
          this.#token = undefined
          continue
        }
        if (!error.undecided) throw error
        this.#leave(index)
        if (write && error.sent && !neverProposed.has(error.message)) throw this.#uncertain(connection.url, error)
        this.#assertOpen(error)
        failures.push(error)
        tried++
      }
    }
    throw this.#unavailable(failures)
  }

  async #metadata(): Promise<Metadata> {
    if (this.#auth === undefined) return {}
    const { username, password } = this.#auth
    this.#token ??= this.#call(authenticatePath, authenticateRequest(username, password), {
      write: false,
      anonymous: true,
    }).then(readText)
    const token = this.#token
    try {
      return { token: await token }
    } catch (error) {
      if (this.#token === token) this.#token = undefined
      if (!(error instanceof GrpcError)) throw error
      throw new StorageError(
        'KW_STORAGE_UNAVAILABLE',
        `Cannot log in to etcd at ${this.address} as user ${username} (${error.message}): check the user name and the password`,
        { cause: error },
      )
    }
  }

  async #version(connection: GrpcConnection): Promise<string> {
    const session = await connection.session()
    let version = this.#versions.get(session)
    if (version === undefined) {
      version = connection
        .unary(statusPath, new ProtoMessage(), {}, this.#timeout)
        .then((response) => readText(new WireReader(response)))
      this.#versions.set(session, version)
      // A failure is not cached; callers that await the promise receive it.
      version.catch(() => this.#versions.delete(session))
    }
    return version
  }

  /** Moves on from a failed endpoint, unless another call has already done so. */
  #leave(index: number): void {
    if (this.#current === index) this.#current = (index + 1) % this.#connections.length
  }

  #assertOpen(cause?: unknown): void {
    if (this.#closed) throw new StorageError('KW_STORAGE_CLOSED', 'Cannot use the store as it was closed', { cause })
  }

  #uncertain(url: string, cause: GrpcError): StorageError {
    return new StorageError(
      'KW_STORAGE_UNCERTAIN',
      `Cannot determine whether etcd at ${url} made the write (${cause.message}): read the key before retrying`,
      { cause, reason: 'etcd did not confirm the write, which may have been made' },
    )
  }

  #unavailable(failures: readonly GrpcError[]): StorageError {
    const reasons = [...new Set(failures.map((failure) => failure.message))].join('; ')
    return new StorageError(
      'KW_STORAGE_UNAVAILABLE',
      `Cannot reach etcd at ${this.address} (${reasons}): check that it is running, that the addresses are correct and that its certificate is trusted`,
      { cause: failures[0], reason: 'etcd is unavailable' },
    )
  }
}

/**
 * Whether a new login helps. Tokens expire, do not survive a server restart, and become invalid when users or roles
 * change.
 */
function isStaleToken({ status, message }: GrpcError): boolean {
  return (
    status === grpcStatus.unauthenticated ||
    message === 'etcdserver: invalid auth token' ||
    message === 'etcdserver: revision of auth store is old'
  )
}
