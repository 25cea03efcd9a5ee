import { type Clock, Deferred, Fifo, type Logger } from '@kubewright/base'
import type { Change } from './change.ts'
import { callHandler, type EventHandler } from './event-handler.ts'
import { type InformerMetrics, informerMetricNames } from './informer-metrics.ts'

/** Options of a {@link HandlerQueue}. */
export interface HandlerQueueOptions<T> {
  readonly handler: EventHandler<T>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: InformerMetrics
  /** With this many pending changes or more, changes of the same key are joined. */
  readonly coalesceAfter: number
}

interface Pending<T> {
  // Undefined for the mark of the initial list, and when joined changes cancelled each other out.
  change: Change<T> | undefined
  readonly since: number
  readonly mark: boolean
}

/**
 * Delivers changes to one handler, in order, one at a time, never synchronously from `push`. When the handler falls
 * behind, the changes of a key are joined in the position of the first, so the number of pending changes is bounded by
 * the number of keys.
 */
export class HandlerQueue<T> {
  readonly #options: HandlerQueueOptions<T>
  readonly #line = new Fifo<Pending<T>>()
  // The last entry of each key, which further changes are joined to.
  readonly #byKey = new Map<string, Pending<T>>()
  readonly #synced = new Deferred()
  #delivering = false
  #closed = false

  constructor(options: HandlerQueueOptions<T>) {
    this.#options = options
    // Prevents an unhandled rejection: callers may ignore `synced`.
    this.#synced.promise.catch(() => undefined)
  }

  /** The number of pending changes. */
  get pending(): number {
    return this.#line.size
  }

  /** How long the oldest pending change has waited, in milliseconds. */
  get lag(): number {
    for (const oldest of this.#line) return this.#options.clock.monotonic() - oldest.since
    return 0
  }

  /** Resolves when the handler has received the initial list. Rejects when it is removed earlier. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  get hasSynced(): boolean {
    return this.#synced.settled && !this.#closed
  }

  push(change: Change<T>): void {
    if (this.#closed || this.#joined(change)) return
    const entry = { change, since: this.#options.clock.monotonic(), mark: false }
    this.#byKey.set(change.key, entry)
    this.#enqueue(entry)
  }

  /** Marks the end of the initial list. */
  markInitialEnd(): void {
    this.#enqueue({ change: undefined, since: this.#options.clock.monotonic(), mark: true })
  }

  /** Stops the delivery. A call in progress may still finish. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#line.drain()
    this.#byKey.clear()
    if (!this.#synced.settled) this.#synced.reject(new Error('Handler was removed before it received the initial list'))
    this.#reportPending()
  }

  #joined(change: Change<T>): boolean {
    if (this.#line.size < this.#options.coalesceAfter) return false
    const waiting = this.#byKey.get(change.key)
    if (waiting?.change === undefined) return false
    waiting.change = waiting.change.joined(change)
    if (waiting.change === undefined) this.#byKey.delete(change.key)
    const { sink, labels } = this.#options.metrics
    sink?.add(informerMetricNames.handlerCoalesced, labels, 1)
    return true
  }

  #enqueue(entry: Pending<T>): void {
    if (this.#closed) return
    this.#line.push(entry)
    this.#reportPending()
    if (this.#delivering) return
    this.#delivering = true
    void this.#deliverAll()
  }

  async #deliverAll(): Promise<void> {
    // Lets the caller finish: handlers never run while the store is being changed.
    await Promise.resolve()
    const { clock, metrics } = this.#options
    for (let entry = this.#line.shift(); entry !== undefined; entry = this.#line.shift()) {
      if (entry.mark) this.#synced.resolve()
      if (entry.change === undefined) continue
      const { change } = entry
      if (this.#byKey.get(change.key) === entry) this.#byKey.delete(change.key)
      metrics.sink?.observe(informerMetricNames.handlerLag, metrics.labels, (clock.monotonic() - entry.since) / 1000)
      try {
        const promise = callHandler(this.#options.handler, change)
        if (promise !== undefined) await promise
      } catch (error) {
        metrics.sink?.add(informerMetricNames.handlerErrors, metrics.labels, 1)
        this.#options.log.error(error, 'Event handler failed', { key: change.key })
      }
    }
    this.#delivering = false
    this.#reportPending()
  }

  #reportPending(): void {
    const { sink, labels } = this.#options.metrics
    sink?.set(informerMetricNames.handlerPending, labels, this.#line.size)
  }
}
