import { AsyncQueue, type Clock, linkSignals, onAbort, type Timer } from '@kubewright/base'
import { CompactedError, StorageError } from '../storage-error.ts'
import type { Change, WatchBatch } from '../store.ts'
import type { EtcdClient } from './etcd-client.ts'
import type { DuplexStream } from './grpc-connection.ts'
import { GrpcError, grpcStatus } from './grpc-error.ts'
import {
  type KeyRange,
  progressRequest,
  readWatch,
  toEntry,
  toKey,
  type WatchAnswer,
  watchRequest,
} from './messages.ts'
import { answersProgressInOrder } from './progress-version.ts'
import { ProtoReader } from './protobuf.ts'
import { unchangedBetween } from './replay.ts'

/** What a watch is given by its store. */
export interface EtcdWatchOptions {
  readonly client: EtcdClient
  readonly clock: Clock
  readonly range: KeyRange
  readonly prefixLength: number
  /** Ends the watch: the caller's signal and the store's life together. */
  readonly signal: AbortSignal
  /** Rejects when history after the revision cannot be read, because it is compacted, in the future or not permitted. */
  readonly assertReadable: (revision: number) => Promise<void>
}

/** What waits to be delivered: an answer of the stream, or the certainty that nothing happened up to a revision. */
type Item = WatchAnswer | { readonly quietUntil: number }

/** Answers that may wait; beyond them the server has to. */
const maxWaiting = 64
/** Changes that are handed over at once. */
const maxBatch = 4096
/** An event is expected within this time of the answer that told of its revision; asking earlier would be waste. */
const firstAsk = 20
const maxAsk = 1000
/** Until the next question when the last one could not be answered. */
const unanswerableAsk = 30_000
const firstDelay = 50
const maxDelay = 2000

/**
 * One watch of the store. It lives through lost connections: a new stream starts behind the last revision that was delivered, so nothing
 * is missed or seen twice.
 */
export class EtcdWatch {
  readonly #options: EtcdWatchOptions
  /** Everything up to this revision was delivered. */
  #delivered: number
  /** The newest revision that the store has heard of. */
  #newest = 0
  #queue = new AsyncQueue<Item>()
  #stream: { readonly stream: DuplexStream; readonly trusted: boolean } | undefined
  #asking: Timer | 'replay' | undefined
  #askDelay = firstAsk
  #paused = false

  constructor(after: number, options: EtcdWatchOptions) {
    this.#delivered = after
    this.#options = options
  }

  /** Tells that the revision exists. If the watch does not get there by itself soon, it asks whether it has missed anything. */
  notice(revision: number): void {
    if (revision > this.#newest) this.#newest = revision
    if (this.#newest > this.#delivered && this.#asking === undefined && this.#stream !== undefined) this.#armAsking()
  }

  /** The batches, until the signal aborts. Rejects at the start when etcd cannot be reached; later it tries again until it can. */
  async *batches(): AsyncGenerator<WatchBatch> {
    const { clock, signal, assertReadable } = this.#options
    let delay = firstDelay
    let established = false
    while (!signal.aborted) {
      try {
        await assertReadable(this.#delivered)
        await this.#open()
        established = true
        for await (const item of this.#queue) {
          const batch = this.#batch(item)
          if (batch === undefined) continue
          delay = firstDelay
          yield batch
        }
      } catch (error) {
        if (signal.aborted) return
        if (!established || !isPassing(error)) throw error
        await clock.sleep(delay, { signal }).catch(() => undefined)
        delay = Math.min(delay * 2, maxDelay)
      } finally {
        this.#close()
      }
    }
  }

  async #open(): Promise<void> {
    const { client, range, signal } = this.#options
    const queue = new AsyncQueue<Item>()
    this.#queue = queue
    this.#paused = false
    const unlisten = onAbort(signal, () => queue.close())
    const end = (error: unknown): void => {
      unlisten()
      queue.fail(error)
    }
    let opened: Awaited<ReturnType<EtcdClient['watch']>>
    try {
      opened = await client.watch({ message: (data) => this.#receive(queue, data), end })
    } catch (error) {
      unlisten()
      throw error
    }
    const { stream, version } = opened
    this.#stream = { stream, trusted: answersProgressInOrder(version) }
    this.#stopListening = unlisten
    stream.send(watchRequest(range, this.#delivered + 1, { previous: true }))
    this.notice(this.#newest)
  }

  #stopListening = (): void => undefined

  #close(): void {
    this.#stopListening()
    this.#stream?.stream.cancel()
    this.#stream = undefined
    if (this.#asking !== 'replay') {
      this.#asking?.cancel()
      this.#asking = undefined
    }
  }

  #receive(queue: AsyncQueue<Item>, data: Buffer): void {
    if (queue.closed) return
    try {
      const answer = readWatch(new ProtoReader(data))
      // As the end of the queue, so that what arrived before is still delivered.
      if (answer.canceled) queue.fail(this.#cancellation(answer))
      else queue.push(answer)
    } catch (error) {
      queue.fail(error)
    }
    if (queue.size > maxWaiting && !this.#paused) {
      this.#paused = true
      this.#stream?.stream.pause()
    }
  }

  #cancellation({ compactRevision, cancelReason }: WatchAnswer): Error {
    if (compactRevision > 0) return new CompactedError(this.#delivered, compactRevision)
    return new GrpcError(grpcStatus.unavailable, cancelReason || 'the server ended the watch', { sent: true })
  }

  /** Everything that waits, as one batch; undefined when it says nothing new. */
  #batch(first: Item): WatchBatch | undefined {
    const changes: Change[] = []
    const before = this.#delivered
    for (let item: Item | undefined = first; item !== undefined; item = this.#queue.tryTake()) {
      this.#take(item, changes)
      if (changes.length >= maxBatch) break
    }
    if (this.#paused && this.#queue.size === 0) {
      this.#paused = false
      this.#stream?.stream.resume()
    }
    if (this.#delivered === before) return undefined
    this.#askDelay = firstAsk
    return { changes, revision: this.#delivered }
  }

  #take(item: Item, changes: Change[]): void {
    if ('quietUntil' in item) {
      this.#delivered = Math.max(this.#delivered, item.quietUntil)
      return
    }
    if (item.events.length === 0) {
      // A report of progress. That a watch was created says nothing about what it still has to catch up with.
      if (!item.created) this.#delivered = Math.max(this.#delivered, item.revision)
      return
    }
    const start = this.#delivered
    for (const event of item.events) {
      if (event.kv.modRevision > start) changes.push(toChange(event, start, this.#options.prefixLength))
    }
    // Not the revision in the header: while a watch catches up, that is ahead of the events.
    this.#delivered = Math.max(start, item.events.at(-1)!.kv.modRevision)
  }

  #armAsking(): void {
    this.#asking = this.#options.clock.setTimer(
      this.#askDelay,
      () => {
        this.#asking = undefined
        if (this.#newest > this.#delivered && this.#stream !== undefined) this.#ask(this.#stream)
      },
      'etcd watch progress',
    )
    this.#askDelay = Math.min(this.#askDelay * 2, maxAsk)
  }

  #ask({ stream, trusted }: { readonly stream: DuplexStream; readonly trusted: boolean }): void {
    if (trusted) {
      stream.send(progressRequest())
      // The server stays silent while the watch has something to catch up with.
      this.#armAsking()
      return
    }
    this.#asking = 'replay'
    const queue = this.#queue
    const until = this.#newest
    const limit = linkSignals(this.#options.signal)
    const timer = this.#options.clock.setTimer(10 * maxAsk, () => limit.abort(), 'etcd watch replay')
    void unchangedBetween(this.#options.client, this.#options.range, {
      after: this.#delivered,
      until,
      signal: limit.signal,
    }).then((unchanged) => {
      timer.cancel()
      limit[Symbol.dispose]()
      this.#asking = undefined
      // What did change is about to be delivered.
      if (unchanged === undefined) this.#askDelay = unanswerableAsk
      if (unchanged === true && !queue.closed) queue.push({ quietUntil: until })
      this.notice(until)
    })
  }
}

function toChange(event: WatchAnswer['events'][number], after: number, prefixLength: number): Change {
  const { deleted, kv, previous } = event
  // etcd leaves out what it has compacted; then the watch is behind the compacted revision, too.
  if (previous === undefined && (deleted || kv.version > 1)) throw new CompactedError(after, kv.modRevision)
  return {
    type: deleted ? 'delete' : 'put',
    key: toKey(kv, prefixLength),
    revision: kv.modRevision,
    entry: deleted ? undefined : toEntry(kv, prefixLength),
    previous: previous && toEntry(previous, prefixLength),
  }
}

/** Whether the failure is of the connection or the cluster, which come back, and not of the request, which stays refused. */
function isPassing(error: unknown): boolean {
  const reason = error instanceof StorageError && error.code === 'KW_STORAGE_UNAVAILABLE' ? error.cause : error
  return reason instanceof GrpcError && reason.undecided
}
