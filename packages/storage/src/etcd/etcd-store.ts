import {
  type Clock,
  type Defined,
  type Duration,
  every,
  linkSignals,
  systemClock,
  type Timer,
  toMillis,
} from '@kubewright/base'
import { type ProtoMessage, WireReader } from '@kubewright/base/protobuf'
import { checkKey } from '../store/check-key.ts'
import { CompactedError, FutureRevisionError, StorageError } from '../store/storage-error.ts'
import type { Entry, ListRequest, Page, Store, WatchBatch, WatchRequest, WriteResult } from '../store/store.ts'
import { EtcdClient, type EtcdTls } from './etcd-client.ts'
import { EtcdWatch } from './etcd-watch.ts'
import { GrpcError, grpcStatus } from './grpc-error.ts'
import {
  compactRequest,
  type KeyRange,
  type RangeResponse,
  rangeRequest,
  readRange,
  readRevision,
  readTxn,
  readWatch,
  toEntry,
  watchRequest,
  writeRequest,
} from './messages.ts'

/** Options of {@link openEtcdStore}. */
export interface EtcdStoreOptions {
  /**
   * Addresses of the cluster's members, such as `https://10.0.0.1:2379`. One is used at a time; when it fails, the next
   * one is.
   */
  readonly endpoints: readonly string[]
  /** Certificates for `https:` endpoints. */
  readonly tls?: EtcdTls | undefined
  /** The user to log in as. @default none */
  readonly auth?: { readonly username: string; readonly password: string } | undefined
  /**
   * The prefix of the store's keys in etcd. A trailing slash is added if missing; `''` uses all of etcd. @default
   * '/kubewright/'
   */
  readonly keyPrefix?: string | undefined
  /** The maximum time for an endpoint to accept a connection. @default '3s' */
  readonly connectTimeout?: Duration | undefined
  /** The maximum time for the cluster to respond; a read may use it to try several endpoints. @default '10s' */
  readonly requestTimeout?: Duration | undefined
  /**
   * The interval of pings on a connection in use. A connection that has not answered by the next ping is closed.
   * @default '10s'
   */
  readonly keepAliveInterval?: Duration | undefined
  /** How often watches learn etcd's current revision while the store makes no other request. @default '5s' */
  readonly progressInterval?: Duration | undefined
  /** @default systemClock */
  readonly clock?: Clock | undefined
}

const rangePath = '/etcdserverpb.KV/Range'
const txnPath = '/etcdserverpb.KV/Txn'
const compactPath = '/etcdserverpb.KV/Compact'
const compactedMessage = 'etcdserver: mvcc: required revision has been compacted'
const futureMessage = 'etcdserver: mvcc: required revision is a future revision'

/**
 * A store in an etcd cluster, version 3.4 or later. Reads are linearizable. Several stores, in any processes, may share
 * a cluster and a key prefix. Revisions are those of etcd, so other users of the cluster advance them too.
 */
export class EtcdStore implements Store {
  readonly shared = true
  readonly #client: EtcdClient
  readonly #clock: Clock
  readonly #prefix: string
  readonly #progressInterval: number
  readonly #watches = new Set<EtcdWatch>()
  readonly #life = new AbortController()
  #ticker: Timer | undefined
  /** A lower bound of the compacted revision; other clients may have compacted further. */
  #compacted = 0

  /** @internal Use {@link openEtcdStore}. */
  constructor(parts: { client: EtcdClient; clock: Clock; prefix: string; progressInterval: number }) {
    this.#client = parts.client
    this.#clock = parts.clock
    this.#prefix = parts.prefix
    this.#progressInterval = parts.progressInterval
  }

  async revision(): Promise<number> {
    return (await this.#range({ start: this.#key('') }, { countOnly: true })).revision
  }

  async get(
    key: string,
    options?: { readonly revision?: number | undefined },
  ): Promise<{ entry: Entry | undefined; revision: number }> {
    const response = await this.#range({ start: this.#key(key) }, options)
    const kv = response.kvs[0]
    return { entry: kv && toEntry(kv, this.#prefix.length), revision: options?.revision ?? response.revision }
  }

  async list({ prefix, after = '', limit, revision }: ListRequest): Promise<Page> {
    const { end } = this.#rangeOf(prefix)
    // A key followed by a zero byte is the smallest key after it.
    const start = after >= prefix && after !== '' ? this.#key(`${after}\0`) : this.#rangeOf(prefix).start
    const response = await this.#range({ start, end }, { limit, revision })
    const entries = response.kvs.map((kv) => toEntry(kv, this.#prefix.length))
    const remaining = response.count - entries.length
    return {
      entries,
      revision: revision ?? response.revision,
      next: remaining > 0 ? entries.at(-1)?.key : undefined,
      remaining,
    }
  }

  async put(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    checkKey(key)
    const { revision, succeeded, kv } = await this.#write(writeRequest(this.#key(key), value, expected))
    const other = kv && toEntry(kv, this.#prefix.length)
    if (!succeeded) return { ok: false, revision, current: other }
    const entry = { key, value, createRevision: other?.createRevision ?? revision, modRevision: revision }
    return { ok: true, revision, entry, previous: other }
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    // etcd would report success for deleting a missing key at revision 0.
    if (expected === 0) {
      const { entry, revision } = await this.get(key)
      return { ok: false, revision, current: entry }
    }
    const { revision, succeeded, kv } = await this.#write(writeRequest(this.#key(key), undefined, expected))
    const other = kv && toEntry(kv, this.#prefix.length)
    return succeeded
      ? { ok: true, revision, entry: undefined, previous: other }
      : { ok: false, revision, current: other }
  }

  watch(request: WatchRequest): AsyncIterable<WatchBatch> {
    if (this.#client.closed) throw closedError('use the store as it')
    return this.#watch(request)
  }

  /** Compacts the history of the whole cluster, not only of this store's keys: etcd has one history. */
  async compact(revision: number): Promise<void> {
    if (revision < 1) return
    try {
      this.#notice(readRevision(await this.#client.write(compactPath, compactRequest(revision))))
      this.#compacted = Math.max(this.#compacted, revision)
    } catch (error) {
      // Another client has compacted further, so there is nothing left to do.
      if (error instanceof GrpcError && error.message === compactedMessage) return
      throw await this.#explain(error, revision, 'KW_STORAGE_WRITE')
    }
  }

  /** Waits for the writes in flight, then ends watches and connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    const closing = this.#client.close()
    this.#life.abort()
    this.#ticker?.cancel()
    await closing
  }

  async *#watch({ prefix, after: wanted, signal }: WatchRequest): AsyncGenerator<WatchBatch> {
    const after = wanted ?? (await this.revision())
    const link = linkSignals(signal, this.#life.signal)
    const range = this.#rangeOf(prefix)
    const watch = new EtcdWatch(after, {
      client: this.#client,
      clock: this.#clock,
      range,
      prefixLength: this.#prefix.length,
      signal: link.signal,
      assertReadable: async (revision) => void (await this.#range(range, { revision, countOnly: true })),
    })
    this.#watches.add(watch)
    this.#ticker ??= every(this.#clock, this.#progressInterval, () => this.#tick(), 'etcd progress')
    try {
      yield* watch.batches()
    } finally {
      link[Symbol.dispose]()
      this.#watches.delete(watch)
      if (this.#watches.size === 0) {
        this.#ticker?.cancel()
        this.#ticker = undefined
      }
    }
    if (!signal?.aborted) throw closedError('continue the watch as the store')
  }

  async #range(
    range: KeyRange,
    options: { limit?: number | undefined; revision?: number | undefined; countOnly?: boolean | undefined } = {},
  ): Promise<RangeResponse> {
    const { limit, revision, countOnly } = options
    const request = rangeRequest(range, {
      ...(limit === undefined ? {} : { limit }),
      // To etcd, revision 0 means the newest. Revision 1 is equally empty.
      ...(revision === undefined ? {} : { revision: Math.max(1, revision) }),
      ...(countOnly === undefined ? {} : { countOnly }),
    })
    try {
      const response = readRange(await this.#client.read(rangePath, request))
      this.#notice(response.revision)
      return response
    } catch (error) {
      throw await this.#explain(error, revision ?? 0, 'KW_STORAGE_UNAVAILABLE')
    }
  }

  async #write(request: ProtoMessage): Promise<ReturnType<typeof readTxn>> {
    try {
      const response = readTxn(await this.#client.write(txnPath, request))
      this.#notice(response.revision)
      return response
    } catch (error) {
      throw await this.#explain(error, 0, 'KW_STORAGE_WRITE')
    }
  }

  /** Requests the current revision, so that watches advance even while no other request is made. */
  #tick(): void {
    // Ignore failures: the watches themselves and the next call report them.
    this.revision().catch(() => undefined)
  }

  #notice(revision: number): void {
    for (const watch of this.#watches) watch.notice(revision)
  }

  /** Converts an error response of etcd to the store's error, with advice for the user. */
  async #explain(
    error: unknown,
    revision: number,
    code: 'KW_STORAGE_WRITE' | 'KW_STORAGE_UNAVAILABLE',
  ): Promise<unknown> {
    if (!(error instanceof GrpcError)) return error
    if (error.message === compactedMessage) return new CompactedError(revision, await this.#compactRevision(revision))
    if (error.message === futureMessage) return new FutureRevisionError(revision, await this.revision())
    const action = code === 'KW_STORAGE_WRITE' ? 'write to' : 'read from'
    return new StorageError(
      code,
      `Cannot ${action} etcd at ${this.#client.address} (${error.message}): ${fix(error)}`,
      {
        cause: error,
      },
    )
  }

  /** The compacted revision, which is greater than `above`. */
  async #compactRevision(above: number): Promise<number> {
    if (this.#compacted <= above) this.#compacted = Math.max(above + 1, await this.#askCompactRevision())
    return this.#compacted
  }

  /**
   * Determines the compacted revision, which etcd reports only to a watch that starts below it. Resolves with 0 after a
   * second.
   */
  #askCompactRevision(): Promise<number> {
    return new Promise((resolve) => {
      let cancel = (): void => undefined
      const finish = (revision: number): void => {
        timer.cancel()
        cancel()
        resolve(revision)
      }
      const unknown = (): void => finish(0)
      const timer = this.#clock.setTimer(1000, unknown, 'etcd compacted revision')
      this.#client
        .watch({
          message: (data) => {
            const { canceled, compactRevision } = readWatch(new WireReader(data))
            if (canceled) finish(compactRevision)
          },
          end: unknown,
        })
        .then(({ stream }) => {
          cancel = stream.cancel
          stream.send(watchRequest(this.#rangeOf(''), 1, { previous: false }))
        }, unknown)
    })
  }

  #key(key: string): Buffer {
    return Buffer.from(this.#prefix + key || '\0', 'utf8')
  }

  /** The range of all keys that start with the prefix. */
  #rangeOf(prefix: string): Defined<KeyRange> {
    const start = this.#key(prefix)
    const end = Buffer.from(start)
    // Keys are ASCII, so incrementing the last byte cannot overflow. For the range of all keys, a zero end means no
    // upper bound.
    if (this.#prefix + prefix !== '') end[end.length - 1]!++
    return { start, end }
  }
}

function closedError(action: string): StorageError {
  return new StorageError('KW_STORAGE_CLOSED', `Cannot ${action} was closed`)
}

function fix({ status, message }: GrpcError): string {
  if (message.includes('database space exceeded'))
    return 'compact and defragment it or raise its quota, then disarm its alarm'
  if (message.includes('request is too large')) return 'store smaller values or raise its --max-request-bytes'
  if (message.includes('user name is empty')) return 'configure a user name and a password, or a client certificate'
  if (status === grpcStatus.permissionDenied) return 'grant the user a role that may read and write the key prefix'
  return 'see the log of etcd'
}

/**
 * Connects to the cluster and returns its store. Rejects with a {@link StorageError} when no endpoint responds or the
 * login fails.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<EtcdStore> {
  const clock = options.clock ?? systemClock
  if (options.endpoints.length === 0) throw new RangeError('endpoints must name at least one address')
  for (const endpoint of options.endpoints) {
    if (!/^https?:\/\/[^/]+\/?$/.test(endpoint)) {
      throw new RangeError(`endpoints must be URLs such as https://10.0.0.1:2379: ${endpoint}`)
    }
  }
  const prefix = options.keyPrefix ?? '/kubewright/'
  if (prefix !== '') checkKey(prefix)
  const client = new EtcdClient({
    endpoints: options.endpoints,
    clock,
    tls: options.tls,
    auth: options.auth,
    connectTimeout: options.connectTimeout ?? '3s',
    requestTimeout: options.requestTimeout ?? '10s',
    keepAliveInterval: options.keepAliveInterval ?? '10s',
  })
  const store = new EtcdStore({
    client,
    clock,
    // Without a trailing separator, the prefix would also match the keys of stores with a longer prefix.
    prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
    progressInterval: toMillis(options.progressInterval ?? '5s'),
  })
  try {
    await store.revision()
    return store
  } catch (error) {
    await store[Symbol.asyncDispose]()
    throw error
  }
}
