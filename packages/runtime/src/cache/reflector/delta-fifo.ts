import type { KubeObject } from '@kubewright/api'
import { abortable, Deferred, Fifo, type WaitOptions } from '@kubewright/base'
import { type Item, isEncoded } from '../store/item.ts'

/** One step from the source towards the store. */
export type Delta<T> =
  | { readonly type: 'Added' | 'Updated' | 'Deleted'; readonly object: Item<T> }
  /** The whole content; what it lacks was deleted. */
  | { readonly type: 'Replaced'; readonly objects: readonly Item<T>[]; readonly resourceVersion: string }
  /** Everything shall be told again. */
  | { readonly type: 'Sync' }
  /** All deltas up to this version have come before. */
  | { readonly type: 'Bookmark'; readonly resourceVersion: string }

/** What a reflector writes to. */
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
   * Changes objects before they are stored, for instance to drop what nobody reads. Called once for each object that arrives; it
   * may change its argument and must give the same result for its own result.
   */
  readonly transform?: (object: T) => T
}

/**
 * The line between a reflector and a store: deltas come out in exactly the order in which they went in, none is merged or lost.
 * A replacement is one delta, so that a store can be swapped as a whole before anybody is told.
 */
export class DeltaFifo<T extends KubeObject> implements DeltaTarget<T> {
  readonly #deltas = new Fifo<Delta<T>>()
  readonly #transform: (object: Item<T>) => Item<T>
  #available = new Deferred()
  #syncQueued = false

  constructor(options: DeltaFifoOptions<T> = {}) {
    this.#transform = transformItem(options.transform)
  }

  /** The number of deltas that wait. */
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

  /** Asks for everything to be told again; a second request while the first one waits adds nothing. */
  resync(): void {
    if (this.#syncQueued) return
    this.#syncQueued = true
    this.#push({ type: 'Sync' })
  }

  /** Removes and returns the oldest delta, or undefined when there is none. */
  pop(): Delta<T> | undefined {
    const delta = this.#deltas.shift()
    if (delta?.type === 'Sync') this.#syncQueued = false
    return delta
  }

  /** Resolves as soon as there is a delta. */
  async available(options: WaitOptions = {}): Promise<void> {
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

/** The same transformation of objects in either form. */
export function transformItem<T>(transform: ((object: T) => T) | undefined): (item: Item<T>) => Item<T> {
  if (transform === undefined) return (item) => item
  return (item) => (isEncoded(item) ? item.recoded(transform(item.parse())) : transform(item))
}
