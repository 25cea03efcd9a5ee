import { AsyncQueue, type Clock, defineBudget, linkSignals, onAbort, type Timer } from '@kubewright/base'
import { WireReader } from '@kubewright/base/protobuf'
import { CompactedError, StorageError } from '../store/storage-error.ts'
import type { Change, WatchBatch } from '../store/store.ts'
import type { EtcdClient } from './etcd-client.ts'
import type { DuplexStream } from './grpc-connection.ts'
import { GrpcError, grpcStatus } from './grpc-error.ts'
import {
  type KeyRange,
  progressRequest,
  readWatch,
  toEntry,
  toKey,
  type WatchResponse,
  watchRequest,
} from './messages.ts'
import { answersProgressInOrder } from './progress-version.ts'
import { unchangedBetween } from './replay.ts'

/** Options of {@link EtcdWatch}. */
export interface EtcdWatchOptions {
  readonly client: EtcdClient
  readonly clock: Clock
  readonly range: KeyRange
  readonly prefixLength: number
  /** Ends the watch. Combines the caller's signal and the lifetime of the store. */
  readonly signal: AbortSignal
  /** Rejects when history after the revision cannot be read: it is compacted, in the future or not permitted. */
  readonly assertReadable: (revision: number) => Promise<void>
}

/** An item to deliver: a response of the stream, or the knowledge that no key of the range changed up to a revision. */
type Item = { readonly response: WatchResponse; readonly bytes: number } | { readonly unchangedUntil: number }

/** The number of buffered responses at which the stream is paused. */
const maxWaiting = 64
/** The size of the buffered responses at which the stream is paused. One response is at most as large as etcd's limit for messages. */
const maxWaitingBytes = defineBudget(16 * 1024 * 1024, {
  group: 'server',
  what: 'bytes of watch responses of etcd that wait to be read',
  unit: 'bytes',
  shown: '{}, and 64 responses',
  answer: 'the stream is paused',
  kubernetes: 'no',
})
/** The maximum number of changes in one batch. */
const maxBatch = 4096
/**
 * Milliseconds to wait for the events of a newly noticed revision before requesting progress; they usually arrive
 * within this time.
 */
const firstProgressDelay = 20
const maxProgressDelay = 1000
/** The delay when the last progress request could not be answered. */
const unverifiableProgressDelay = 30_000
const firstDelay = 50
const maxDelay = 2000

/**
 * One watch of an {@link EtcdStore}. It survives lost connections: a new stream starts after the last delivered
 * revision, so no change is lost or delivered twice.
 */
export class EtcdWatch {
  readonly #options: EtcdWatchOptions
  /** Every change up to this revision was delivered. */
  #delivered: number
  /** The newest revision known to the store. */
  #newest = 0
  #queue = new AsyncQueue<Item>()
  #waitingBytes = 0
  #stream: { readonly stream: DuplexStream; readonly trusted: boolean } | undefined
  #progressCheck: Timer | 'replay' | undefined
  #progressDelay = firstProgressDelay
  #paused = false

  constructor(after: number, options: EtcdWatchOptions) {
    this.#delivered = after
    this.#options = options
  }

  /** Reports that a revision exists. If the watch does not reach it soon, it requests progress from the server. */
  notice(revision: number): void {
    if (revision > this.#newest) this.#newest = revision
    if (this.#newest > this.#delivered && this.#progressCheck === undefined && this.#stream !== undefined)
      this.#scheduleProgressCheck()
  }

  /**
   * The batches until the signal aborts. Rejects when etcd cannot be reached at the start; later failures are retried
   * with back-off.
   */
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
        if (!established || !isTransient(error)) throw error
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
    this.#waitingBytes = 0
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
    if (this.#progressCheck !== 'replay') {
      this.#progressCheck?.cancel()
      this.#progressCheck = undefined
    }
  }

  #receive(queue: AsyncQueue<Item>, data: Buffer): void {
    if (queue.closed) return
    try {
      const response = readWatch(new WireReader(data))
      // Fail the queue rather than throw, so that events that arrived before are still delivered.
      if (response.canceled) queue.fail(this.#cancellation(response))
      else {
        queue.push({ response, bytes: data.length })
        if (queue === this.#queue) this.#waitingBytes += data.length
      }
    } catch (error) {
      queue.fail(error)
    }
    if ((queue.size > maxWaiting || this.#waitingBytes > maxWaitingBytes) && !this.#paused) {
      this.#paused = true
      this.#stream?.stream.pause()
    }
  }

  #cancellation({ compactRevision, cancelReason }: WatchResponse): Error {
    if (compactRevision > 0) return new CompactedError(this.#delivered, compactRevision)
    return new GrpcError(grpcStatus.unavailable, cancelReason || 'the server ended the watch', { sent: true })
  }

  /** Combines all buffered items into one batch; undefined when they contain nothing new. */
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
    this.#progressDelay = firstProgressDelay
    return { changes, revision: this.#delivered }
  }

  #take(item: Item, changes: Change[]): void {
    if ('unchangedUntil' in item) {
      this.#delivered = Math.max(this.#delivered, item.unchangedUntil)
      return
    }
    const { events, created, revision } = item.response
    this.#waitingBytes -= item.bytes
    if (events.length === 0) {
      // A progress notification. A `created` response is none: the watch may still have events to catch up with.
      if (!created) this.#delivered = Math.max(this.#delivered, revision)
      return
    }
    const start = this.#delivered
    for (const event of events) {
      if (event.kv.modRevision > start) changes.push(toChange(event, start, this.#options.prefixLength))
    }
    // Not the revision of the header, which is ahead of the events while the watch catches up.
    this.#delivered = Math.max(start, events.at(-1)!.kv.modRevision)
  }

  #scheduleProgressCheck(): void {
    this.#progressCheck = this.#options.clock.setTimer(
      this.#progressDelay,
      () => {
        this.#progressCheck = undefined
        if (this.#newest > this.#delivered && this.#stream !== undefined) this.#checkProgress(this.#stream)
      },
      'etcd watch progress',
    )
    this.#progressDelay = Math.min(this.#progressDelay * 2, maxProgressDelay)
  }

  #checkProgress({ stream, trusted }: { readonly stream: DuplexStream; readonly trusted: boolean }): void {
    if (trusted) {
      stream.send(progressRequest())
      // The server does not respond while the watch still has events to catch up with.
      this.#scheduleProgressCheck()
      return
    }
    this.#progressCheck = 'replay'
    const queue = this.#queue
    const until = this.#newest
    const limit = linkSignals(this.#options.signal)
    const timer = this.#options.clock.setTimer(10 * maxProgressDelay, () => limit.abort(), 'etcd watch replay')
    void unchangedBetween(this.#options.client, this.#options.range, {
      after: this.#delivered,
      until,
      signal: limit.signal,
    }).then((unchanged) => {
      timer.cancel()
      limit[Symbol.dispose]()
      this.#progressCheck = undefined
      // When it is false, the range changed and the stream is about to deliver the changes.
      if (unchanged === undefined) this.#progressDelay = unverifiableProgressDelay
      if (unchanged === true && !queue.closed) queue.push({ unchangedUntil: until })
      this.notice(until)
    })
  }
}

function toChange(event: WatchResponse['events'][number], after: number, prefixLength: number): Change {
  const { deleted, kv, previous } = event
  // etcd omits compacted previous values. The watch is then behind the compacted revision, too.
  if (previous === undefined && (deleted || kv.version > 1)) throw new CompactedError(after, kv.modRevision)
  return {
    type: deleted ? 'delete' : 'put',
    key: toKey(kv, prefixLength),
    revision: kv.modRevision,
    entry: deleted ? undefined : toEntry(kv, prefixLength),
    previous: previous && toEntry(previous, prefixLength),
  }
}

/** Whether the connection or the cluster failed, so that retrying can help; false when the request was rejected. */
function isTransient(error: unknown): boolean {
  const reason = error instanceof StorageError && error.code === 'KW_STORAGE_UNAVAILABLE' ? error.cause : error
  return reason instanceof GrpcError && reason.undecided
}
