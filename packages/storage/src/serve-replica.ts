import type { Duplex } from 'node:stream'
import { drainMicrotasks, errorText } from '@kubewright/base'
import { FrameSplitter } from './etcd/grpc-frames.ts'
import type { LocalStore, ReplicaSource } from './internal/local-store.ts'
import { changeKind, fromReplica, fromSource, MessageReader, MessageWriter } from './replica/messages.ts'
import { CompactedError, FutureRevisionError, StorageError } from './storage-error.ts'
import type { Change, Entry, WriteResult } from './store.ts'

/** A frame that has reached this size is sent, so that the replica can start to read it. */
const frameBytes = 256 * 1024
/** Entries per turn while the contents are transferred, so that the source serves other requests in between. */
const entriesPerTurn = 500

/**
 * Keeps a replica of a store up to date over a channel, and makes its writes: see {@link openReplicaStore}. Resolves when the channel has
 * ended; a replica that falls behind the history of the store is disconnected. Any number of replicas may follow one store.
 *
 * Order: the channel carries every change up to a revision before any response that names this revision. A replica that has received
 * a response can therefore read the state that the response describes.
 */
export async function serveReplica(store: LocalStore, channel: Duplex): Promise<void> {
  const served = new ServedReplica(store, channel)
  await served.run()
}

class ServedReplica {
  readonly #store: LocalStore
  readonly #source: ReplicaSource
  readonly #channel: Duplex
  readonly #writer = new MessageWriter()
  /** Adds the responses to send, after the changes that they rely on. */
  #responses: (() => void)[] = []
  /** The ids of the puts in progress, by their value. The store publishes the same bytes that it was given. */
  readonly #own = new Map<Uint8Array, number>()
  /** The replica has received every change up to this revision; undefined until its contents were transferred. */
  #sent: number | undefined
  #compacted = 0
  #isScheduled = false
  #isFull = false

  constructor(store: LocalStore, channel: Duplex) {
    this.#store = store
    this.#source = store.source
    this.#channel = channel
  }

  async run(): Promise<void> {
    const splitter = new FrameSplitter((message) => this.#receive(message))
    const unfollow = this.#source.follow(() => this.#schedule())
    const ended = new Promise<void>((resolve) => this.#channel.once('close', resolve))
    this.#channel.on('drain', () => {
      this.#isFull = false
      this.#schedule()
    })
    // The close event follows, and reports the end to the caller.
    this.#channel.on('error', () => undefined)
    this.#channel.on('end', () => this.#channel.destroy())
    this.#channel.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk)
      } catch {
        this.#channel.destroy()
      }
    })
    try {
      await this.#transfer()
      await ended
    } finally {
      unfollow()
    }
  }

  /** Sends the contents at the oldest readable revision, so that the replica also has the history since then. */
  async #transfer(): Promise<void> {
    const { mvcc } = this.#source
    const { compacted, revision } = mvcc
    // Both are taken in one turn. They stay valid when a compaction comes in between.
    const { entries } = mvcc.list({ prefix: '', revision: Math.max(1, compacted) })
    const history = mvcc.changesAfter(compacted, '')
    this.#writer.begin(fromSource.begin).revision(compacted).end()
    this.#compacted = compacted
    for (let at = 0; at < entries.length && !this.#channel.destroyed; at += entriesPerTurn) {
      this.#writer.begin(fromSource.entries)
      for (const entry of entries.slice(at, at + entriesPerTurn)) this.#addEntry(entry)
      this.#writer.end()
      await this.#sendSlowly()
    }
    this.#addChanges(history)
    this.#writer.begin(fromSource.ready).end()
    await this.#sendSlowly()
    this.#sent = revision
    this.#schedule()
  }

  #addEntry({ key, value, createRevision, modRevision }: Entry): void {
    this.#writer.revision(createRevision).revision(modRevision).key(key).bytes(value)
  }

  async #sendSlowly(): Promise<void> {
    this.#send()
    if (this.#isFull && !this.#channel.destroyed) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          this.#channel.off('drain', go)
          this.#channel.off('close', go)
          resolve()
        }
        this.#channel.on('drain', go)
        this.#channel.on('close', go)
      })
    }
    await drainMicrotasks()
  }

  /** Sends changes and responses at the end of this turn of the event loop, so that all of them are one write. */
  #schedule(): void {
    if (this.#isScheduled || this.#isFull || this.#sent === undefined) return
    this.#isScheduled = true
    void drainMicrotasks().then(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    if (this.#channel.destroyed || this.#isFull || this.#sent === undefined) return
    const { mvcc } = this.#source
    const { revision } = mvcc
    try {
      if (revision > this.#sent) this.#addChanges(mvcc.changesAfter(this.#sent, ''))
    } catch {
      // A compaction has overtaken the replica: it must start again with the present contents.
      this.#channel.destroy()
      return
    }
    this.#sent = revision
    for (const add of this.#responses) add()
    this.#responses = []
    // Last, because the replica reads the versions that responses describe.
    if (mvcc.compacted > this.#compacted) {
      this.#compacted = mvcc.compacted
      this.#writer.begin(fromSource.compacted).revision(mvcc.compacted).end()
    }
    this.#send()
  }

  #addChanges(changes: readonly Change[]): void {
    let isOpen = false
    for (const { revision, key, entry } of changes) {
      if (!isOpen) this.#writer.begin(fromSource.changes).revision(revision)
      isOpen = true
      const own = entry && this.#own.get(entry.value)
      if (!entry) this.#writer.byte(changeKind.delete).key(key)
      else if (own !== undefined) this.#writer.byte(changeKind.own).key(key).int(own)
      else this.#writer.byte(changeKind.put).key(key).bytes(entry.value)
      if (this.#writer.messageLength < frameBytes) continue
      this.#writer.end()
      isOpen = false
    }
    if (isOpen) this.#writer.end()
  }

  #send(): void {
    if (this.#writer.length > 0 && !this.#channel.write(this.#writer.take())) this.#isFull = true
  }

  #receive(message: Buffer): void {
    const reader = new MessageReader(message)
    const type = reader.byte()
    const id = reader.int()
    if (type === fromReplica.sync) {
      // No revision is read now: the response names the newest one when it is sent.
      this.#respond(() => this.#addSynced(id))
      return
    }
    if (type === fromReplica.compact) {
      this.#store.compact(reader.revision()).then(
        () => this.#respond(() => this.#addSynced(id)),
        (error: unknown) => this.#fail(id, error),
      )
      return
    }
    const expected = reader.revision()
    const key = reader.key()
    if (type === fromReplica.delete) {
      this.#answer(id, this.#store.delete(key, expected))
      return
    }
    const value = reader.bytes()
    this.#own.set(value, id)
    this.#answer(id, this.#store.put(key, value, expected), value)
  }

  #answer(id: number, writing: Promise<WriteResult>, value?: Uint8Array): void {
    writing.then(
      ({ ok, revision }) =>
        this.#respond(() => {
          if (value) this.#own.delete(value)
          this.#writer
            .begin(fromSource.written)
            .int(id)
            .byte(ok ? 1 : 0)
            .revision(revision)
            .end()
        }),
      (error: unknown) => {
        if (value) this.#own.delete(value)
        this.#fail(id, error)
      },
    )
  }

  #addSynced(id: number): void {
    this.#writer.begin(fromSource.synced).int(id).revision(this.#sent!).end()
  }

  #fail(id: number, error: unknown): void {
    const failure = Buffer.from(JSON.stringify(failureOf(error)))
    this.#respond(() => this.#writer.begin(fromSource.failed).int(id).bytes(failure).end())
  }

  #respond(add: () => void): void {
    this.#responses.push(add)
    this.#schedule()
  }
}

/** The fields of an error that a replica needs to throw the same one. */
export interface ReplicaFailure {
  readonly code?: string
  readonly message: string
  readonly reason?: string | undefined
  /** The revision that a {@link CompactedError} or {@link FutureRevisionError} reports. */
  readonly revision?: number
}

function failureOf(error: unknown): ReplicaFailure {
  if (error instanceof CompactedError) return { ...fields(error), revision: error.compactRevision }
  if (error instanceof FutureRevisionError) return { ...fields(error), revision: error.currentRevision }
  if (error instanceof StorageError) return fields(error)
  return { message: errorText(error) }
}

function fields({ code, message, reason }: StorageError): ReplicaFailure {
  return { code, message, ...(reason === undefined ? {} : { reason }) }
}
