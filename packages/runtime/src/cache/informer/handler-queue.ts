import { CaughtError, type Clock, Deferred, Fifo, type Logger } from '@kubewright/base'
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

/** Its reactions are the cheapest microtasks: those of `queueMicrotask` carry an async context. */
const settled = Promise.resolve()

/**
 * An entry of the queue. A class: V8 would allocate object literals in the old generation once those of an initial list
 * have survived, and would then promote every change.
 */
class Pending<T> {
  // Undefined for the mark of the initial list, and when joined changes cancelled each other out.
  change: Change<T> | undefined
  readonly since: number
  readonly mark: boolean

  constructor(change: Change<T> | undefined, since: number) {
    this.change = change
    this.since = since
    this.mark = change === undefined
  }
}

/**
 * Delivers changes to one handler, in order, one at a time, never synchronously from `push`. When the handler falls
 * behind, the changes of a key are joined in the position of the first, so the number of pending changes is bounded by
 * the number of keys.
 */
export class HandlerQueue<T> {
  readonly #options: HandlerQueueOptions<T>
  readonly #line = new Fifo<Pending<T>>()
  // The last entry of each key, which further changes are joined to. Exists only while the handler is behind: V8
  // promotes everything that passes through a map with constant insertions and deletions, because each table that it
  // outgrows refers to the next one.
  #byKey: Map<string, Pending<T>> | undefined
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

  /** `now` is the monotonic time. */
  push(change: Change<T>, now: number = this.#options.clock.monotonic()): void {
    if (this.#closed || this.#joined(change)) return
    const entry = new Pending(change, now)
    change.pin()
    this.#byKey?.set(change.key, entry)
    this.#enqueue(entry)
  }

  /** Marks the end of the initial list. */
  markInitialEnd(): void {
    this.#enqueue(new Pending<T>(undefined, this.#options.clock.monotonic()))
  }

  /** Stops the delivery. A call in progress may still finish. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#line.drain()
    this.#byKey = undefined
    if (!this.#synced.settled)
      this.#synced.reject(new CaughtError('Handler was removed before it received the initial list'))
    this.#reportPending()
  }

  #joined(change: Change<T>): boolean {
    if (this.#line.size < this.#options.coalesceAfter) return false
    const byKey = (this.#byKey ??= this.#lastOfKeys())
    const waiting = byKey.get(change.key)
    if (waiting?.change === undefined) return false
    const joined = waiting.change.joined(change)
    if (joined !== waiting.change) joined?.pin()
    waiting.change = joined
    if (waiting.change === undefined) byKey.delete(change.key)
    const { sink, labels } = this.#options.metrics
    sink?.add(informerMetricNames.handlerCoalesced, labels, 1)
    return true
  }

  #lastOfKeys(): Map<string, Pending<T>> {
    const byKey = new Map<string, Pending<T>>()
    for (const entry of this.#line) if (entry.change !== undefined) byKey.set(entry.change.key, entry)
    return byKey
  }

  #enqueue(entry: Pending<T>): void {
    if (this.#closed) return
    this.#line.push(entry)
    this.#reportPending()
    if (this.#delivering) return
    this.#delivering = true
    // Lets the caller finish: handlers never run while the store is being changed.
    void settled.then(this.#deliverAll)
  }

  // Not an async function: most handlers return no promise, and a control plane calls dozens of them for each event.
  readonly #deliverAll = (): void => {
    for (let entry = this.#line.shift(); entry !== undefined; entry = this.#line.shift()) {
      if (entry.mark) this.#synced.resolve()
      if (entry.change === undefined) continue
      const promise = this.#deliver(entry.change, entry)
      if (promise === undefined) continue
      void promise.then(this.#deliverAll)
      return
    }
    this.#byKey = undefined
    this.#delivering = false
    this.#reportPending()
  }

  /** Calls the handler. Returns a promise, which never rejects, if the handler has not finished. */
  #deliver(change: Change<T>, entry: Pending<T>): Promise<void> | undefined {
    const { clock, metrics, handler } = this.#options
    if (this.#byKey?.get(change.key) === entry) this.#byKey.delete(change.key)
    metrics.sink?.observe(informerMetricNames.handlerLag, metrics.labels, (clock.monotonic() - entry.since) / 1000)
    const given = change.forHandler()
    try {
      const result = callHandler(handler, given)
      if (result !== undefined) {
        return Promise.resolve(result)
          .catch((error: unknown) => this.#failed(change, error))
          .then(() => this.#delivered(change, given))
      }
    } catch (error) {
      this.#failed(change, error)
    }
    this.#delivered(change, given)
    return undefined
  }

  #delivered(change: Change<T>, given: Change<T>): void {
    // A handler may keep a change and read it later.
    if (this.#options.handler.onChange === undefined || given.wasRead) change.unpin()
  }

  #failed({ key }: Change<T>, error: unknown): void {
    const { metrics, log } = this.#options
    metrics.sink?.add(informerMetricNames.handlerErrors, metrics.labels, 1)
    log.error(error, 'Event handler failed', { key })
  }

  #reportPending(): void {
    const { sink, labels } = this.#options.metrics
    sink?.set(informerMetricNames.handlerPending, labels, this.#line.size)
  }
}
