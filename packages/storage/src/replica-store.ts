import type { Duplex } from 'node:stream'
import { drainMicrotasks, errorText } from '@kubewright/base'
import { FrameSplitter } from './etcd/grpc-frames.ts'
import { LocalStore } from './internal/local-store.ts'
import { Mvcc } from './internal/mvcc.ts'
import { changeKind, fromReplica, fromSource, MessageReader, MessageWriter } from './replica/messages.ts'
import type { RevisionBoard } from './revision-board.ts'
import type { ReplicaFailure } from './serve-replica.ts'
import { CompactedError, FutureRevisionError, StorageError, type StorageErrorCode } from './storage-error.ts'
import type { Entry, WriteResult } from './store.ts'

interface Pending {
  readonly resolve: (response: { readonly ok: boolean; readonly revision: number }) => void
  readonly reject: (error: unknown) => void
  /** The revision of a compaction; its error names it. */
  readonly wanted?: number
  /** The value of a put, which the source does not send back. */
  readonly value?: Uint8Array
}

/** Options of {@link openReplicaStore}. */
export interface ReplicaStoreOptions {
  /** The board of the source's newest revision, so that {@link ReplicaStore.sync} needs no message. */
  readonly board?: RevisionBoard | undefined
}

/** A caller that waits until the replica has reached a revision. */
interface Waiting {
  readonly revision: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * A complete copy of a store of another process, with its history: reads and watches are local, writes are made by the source. Every
 * change arrives in order of revision, as in the source.
 *
 * Reads see every write of this replica that has resolved, but may lag behind writes of other processes. A caller that must see those
 * awaits {@link ReplicaStore.sync} first. A write that depends on an outdated read fails its condition.
 */
export class ReplicaStore extends LocalStore {
  readonly shared = true
  readonly #channel: Duplex
  readonly #writer = new MessageWriter()
  readonly #pending = new Map<number, Pending>()
  /** The callers of `sync` whose request was not sent yet. They share one request. */
  #syncing: Promise<number> | undefined
  readonly #board: RevisionBoard | undefined
  #waiting: Waiting[] = []
  #id = 0
  #isScheduled = false

  /** @internal Use {@link openReplicaStore}. */
  constructor(channel: Duplex, mvcc: Mvcc, options: ReplicaStoreOptions) {
    // The source limits the history, and the replica compacts whenever the source has.
    super(mvcc, 'the replica', { historyBytes: Number.POSITIVE_INFINITY })
    this.#channel = channel
    this.#board = options.board
  }

  /** The oldest revision that can be read. */
  get oldestRevision(): number {
    // A new store is at revision 1 and empty.
    return Math.max(1, this.mvcc.compacted)
  }

  /**
   * Learns the source's newest revision. When the promise resolves, the replica has every change up to it, which includes all writes
   * that any process has completed before the call.
   */
  async sync(): Promise<number> {
    this.assertOpen()
    if (this.#board) {
      const revision = this.#board.read()
      if (revision > this.mvcc.revision) await this.#reached(revision)
      return revision
    }
    this.#syncing ??= this.#request(fromReplica.sync, () => undefined).then(({ revision }) => revision)
    return this.#syncing
  }

  /** Compacts the source, and thus all of its replicas. */
  override async compact(revision: number): Promise<void> {
    this.assertOpen()
    await this.#request(fromReplica.compact, (writer) => writer.revision(revision), { wanted: revision })
  }

  /** Ends the channel. Writes whose response is missing reject with code `KW_STORAGE_UNCERTAIN`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.lost()
    this.#channel.destroy()
  }

  protected override async write(key: string, value: Uint8Array | undefined, expected: number): Promise<WriteResult> {
    this.assertOpen()
    const type = value === undefined ? fromReplica.delete : fromReplica.put
    const add = (writer: MessageWriter): void => {
      writer.revision(expected).key(key)
      if (value !== undefined) writer.bytes(value)
    }
    const { ok, revision } = await this.#request(type, add, value === undefined ? {} : { value })
    if (!ok) {
      const current = revision < this.mvcc.compacted ? this.mvcc.newest(key) : this.mvcc.get(key, revision)
      return { ok, revision, current }
    }
    // The source sends the change before the response. Later changes cannot have compacted it: see the order of serveReplica().
    const change = this.mvcc.changeAt(revision)
    return { ok, revision, entry: change?.entry, previous: change?.previous }
  }

  /** @internal Applies a message of the source. */
  receive(message: Buffer): void {
    const reader = new MessageReader(message)
    const type = reader.byte()
    if (type === fromSource.changes) this.#apply(reader)
    else if (type === fromSource.compacted) {
      this.mvcc.compact(reader.revision())
      this.hub.wake()
    } else this.#respond(type, reader)
  }

  /** @internal The channel has ended. */
  lost(): void {
    if (this.closed) return
    this.closed = true
    this.hub.close()
    for (const { reject } of this.#pending.values()) {
      reject(new StorageError('KW_STORAGE_UNCERTAIN', 'Lost the connection to the store before it responded'))
    }
    this.#pending.clear()
    for (const { reject } of this.#waiting) {
      reject(new StorageError('KW_STORAGE_CLOSED', 'Lost the connection to the store before its changes arrived'))
    }
    this.#waiting = []
  }

  #apply(reader: MessageReader): void {
    const first = reader.revision()
    if (first !== this.mvcc.revision + 1) {
      throw new RangeError(`The replica is at revision ${this.mvcc.revision} and cannot apply revision ${first}`)
    }
    while (!reader.isAtEnd) {
      const kind = reader.byte()
      const key = reader.key()
      if (kind === changeKind.delete) this.mvcc.publish({ key, value: undefined })
      else if (kind === changeKind.put) this.mvcc.publish({ key, value: reader.bytes() })
      else this.mvcc.publish({ key, value: this.#pending.get(reader.int())!.value! })
    }
    this.hub.wake()
    if (this.#waiting.length === 0) return
    const { revision } = this.mvcc
    const reached = this.#waiting.filter((one) => one.revision <= revision)
    this.#waiting = this.#waiting.filter((one) => one.revision > revision)
    for (const { resolve } of reached) resolve()
  }

  #reached(revision: number): Promise<void> {
    return new Promise((resolve, reject) => this.#waiting.push({ revision, resolve, reject }))
  }

  #respond(type: number, reader: MessageReader): void {
    const id = reader.int()
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    if (type === fromSource.failed) {
      const failure = JSON.parse(Buffer.from(reader.bytes()).toString()) as ReplicaFailure
      pending?.reject(errorOf(failure, pending.wanted ?? 0))
      return
    }
    const ok = type === fromSource.synced || reader.byte() === 1
    pending?.resolve({ ok, revision: reader.revision() })
  }

  #request(
    type: number,
    add: (writer: MessageWriter) => void,
    more: Pick<Pending, 'value' | 'wanted'> = {},
  ): Promise<{ readonly ok: boolean; readonly revision: number }> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId()
      this.#pending.set(id, { resolve, reject, ...more })
      this.#writer.begin(type).int(id)
      add(this.#writer)
      this.#writer.end()
      if (this.#isScheduled) return
      this.#isScheduled = true
      // Requests of one turn of the event loop are one write.
      void drainMicrotasks().then(() => {
        this.#isScheduled = false
        this.#syncing = undefined
        if (!this.#channel.destroyed) this.#channel.write(this.#writer.take())
      })
    })
  }

  #nextId(): number {
    do this.#id = (this.#id + 1) >>> 0
    while (this.#pending.has(this.#id))
    return this.#id
  }
}

function errorOf({ code, message, reason, revision }: ReplicaFailure, wanted: number): Error {
  if (code === 'KW_STORAGE_COMPACTED' && revision !== undefined) return new CompactedError(wanted, revision)
  if (code === 'KW_STORAGE_FUTURE' && revision !== undefined) return new FutureRevisionError(wanted, revision)
  if (code === undefined) return new Error(message)
  return new StorageError(code as StorageErrorCode, message, reason === undefined ? {} : { reason })
}

/**
 * Opens a replica of the store that {@link serveReplica} serves at the other end of the channel. Resolves when the replica has everything
 * that the source had at the time of the connection. When the channel ends, all calls and watches fail with code `KW_STORAGE_CLOSED`.
 */
export function openReplicaStore(channel: Duplex, options: ReplicaStoreOptions = {}): Promise<ReplicaStore> {
  return new Promise((resolve, reject) => {
    const entries: Entry[] = []
    let compacted = 0
    let store: ReplicaStore | undefined
    const opened = (): ReplicaStore =>
      (store ??= new ReplicaStore(
        channel,
        // A store without history starts at revision 1, which is not compacted.
        compacted === 0 ? new Mvcc() : new Mvcc({ entries, revision: compacted }),
        options,
      ))
    const splitter = new FrameSplitter((message) => {
      const type = message[0]
      if (type === fromSource.begin) compacted = new MessageReader(message.subarray(1)).revision()
      else if (type === fromSource.entries) readEntries(new MessageReader(message.subarray(1)), entries)
      else if (type === fromSource.ready) resolve(opened())
      else opened().receive(message)
    })
    const end = (error: unknown): void => {
      store?.lost()
      channel.destroy()
      // Without effect once the replica was opened.
      const message = `The connection to the store ended before its contents were transferred: ${errorText(error)}`
      reject(new StorageError('KW_STORAGE_UNAVAILABLE', message, { cause: error }))
    }
    channel.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk)
      } catch (error) {
        end(error)
      }
    })
    channel.on('error', end)
    channel.on('end', () => end(new Error('the other end closed it')))
    channel.on('close', () => end(new Error('it was closed')))
  })
}

function readEntries(reader: MessageReader, entries: Entry[]): void {
  while (!reader.isAtEnd) {
    const createRevision = reader.revision()
    const modRevision = reader.revision()
    const key = reader.key()
    entries.push({ key, value: reader.bytes(), createRevision, modRevision })
  }
}
