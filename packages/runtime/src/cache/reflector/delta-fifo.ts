import type { KubeObject } from '@kubewright/api'
import { abortable, Deferred, Fifo, type LazySignal } from '@kubewright/base'
import { type Item, isEncoded } from '../store/item.ts'

/** One change on its way from the source to the store. */
export type Delta<T> =
  | { readonly type: 'Added' | 'Updated' | 'Deleted'; readonly object: Item<T> }
  /** The complete list: stored objects that it does not contain were deleted. */
  | { readonly type: 'Replaced'; readonly objects: readonly Item<T>[]; readonly resourceVersion: string }
  /** All objects are delivered to handlers again. */
  | { readonly type: 'Sync' }
  /** All changes up to this version have been delivered. */
  | { readonly type: 'Bookmark'; readonly resourceVersion: string }

/** The write side of a {@link DeltaFifo}, which a reflector fills. */
export interface DeltaTarget<T> {
  add(object: Item<T>): void
  update(object: Item<T>): void
  delete(object: Item<T>): void
  replace(objects: readonly Item<T>[], resourceVersion: string): void
  bookmark(resourceVersion: string): void
}

/** Options of a {@link DeltaFifo}. */
export interface DeltaFifoOptions<T> {
  /**
   * Transforms objects before they are stored, for example to drop unused fields. Called once for each object that
   * arrives. It may modify its argument and must be idempotent.
   */
  readonly transform?: ((object: T) => T) | undefined
}

/**
 * The queue between a reflector and a store. Deltas are delivered in exactly the order of arrival; none is merged or
 * lost. A list is one delta, so that a store can be replaced as a whole before handlers are called.
 */
export class DeltaFifo<T extends KubeObject> implements DeltaTarget<T> {
  readonly #deltas = new Fifo<Delta<T>>()
  readonly #transform: (object: Item<T>) => Item<T>
  #available = new Deferred()
  #syncQueued = false

  constructor(options: DeltaFifoOptions<T> = {}) {
    this.#transform = transformItem(options.transform)
  }

  /** The number of waiting deltas. */
  get size(): number {
    return this.#deltas.size
  }

  add(object: Item<T>): void {
    this.#push({ type: 'Added', object: this.#transform(object) })
  }

  update(object: Item<T>): void {
    this.#push({ type: 'Updated', object: this.#transform(object) })
  }

  delete(object: Item<T>): void {
    this.#push({ type: 'Deleted', object: this.#transform(object) })
  }

  replace(objects: readonly Item<T>[], resourceVersion: string): void {
    this.#push({ type: 'Replaced', objects: objects.map(this.#transform), resourceVersion })
  }

  bookmark(resourceVersion: string): void {
    this.#push({ type: 'Bookmark', resourceVersion })
  }

  /** Queues a redelivery of all objects. A second request while the first one waits has no effect. */
  resync(): void {
    if (this.#syncQueued) return
    this.#syncQueued = true
    this.#push({ type: 'Sync' })
  }

  /** Removes and returns the oldest delta; undefined when the queue is empty. */
  pop(): Delta<T> | undefined {
    const delta = this.#deltas.shift()
    if (delta?.type === 'Sync') this.#syncQueued = false
    return delta
  }

  /** Resolves as soon as the queue contains a delta. */
  async available(options: { readonly signal?: AbortSignal | LazySignal | undefined } = {}): Promise<void> {
    while (this.#deltas.size === 0) {
      if (this.#available.settled) this.#available = new Deferred()
      await abortable(this.#available.promise, options.signal)
    }
  }

  #push(delta: Delta<T>): void {
    this.#deltas.push(delta)
    if (!this.#available.settled) this.#available.resolve()
  }
}

/** Applies a transformation to an object in either form. */
export function transformItem<T>(transform: ((object: T) => T) | undefined): (item: Item<T>) => Item<T> {
  if (transform === undefined) return (item) => item
  return (item) => (isEncoded(item) ? item.recoded(transform(item.parse())) : transform(item))
}
