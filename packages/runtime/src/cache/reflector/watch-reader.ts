import type { KubeObject } from '@kubewright/api'
import { abortable, type Clock, linkSignals } from '@kubewright/base'
import type { Item } from '../store/item.ts'
import type { ListWatch, WatchEvent, WatchOptions } from './list-watch.ts'

/** What {@link WatchReader.next} gives besides events: the stream has ended, or nothing came in time. */
export type WatchPause = 'end' | 'silence'

/**
 * Reads one watch in batches, with a limit on silence. However the other side behaves, no call waits longer than it was told, and
 * after `close` nothing of the watch is left behind.
 */
export class WatchReader<T extends KubeObject> implements Disposable {
  readonly #clock: Clock
  readonly #link: ReturnType<typeof linkSignals>
  readonly #iterator: AsyncIterator<readonly WatchEvent<Item<T>>[]>
  // Events that were read and given back.
  #returned: readonly WatchEvent<Item<T>>[] | undefined
  /** The monotonic time at which the watch was asked for: some proxies hold back the answer until the first event. */
  readonly openedAt: number

  private constructor(
    clock: Clock,
    openedAt: number,
    link: ReturnType<typeof linkSignals>,
    iterator: AsyncIterator<readonly WatchEvent<Item<T>>[]>,
  ) {
    this.#clock = clock
    this.#link = link
    this.#iterator = iterator
    this.openedAt = openedAt
  }

  /** Opens a watch; undefined when there was no answer within `limit` milliseconds. */
  static async open<T extends KubeObject>(
    source: ListWatch<T>,
    options: WatchOptions & { readonly clock: Clock; readonly limit: number },
  ): Promise<WatchReader<T> | undefined> {
    const { clock, limit, signal, ...request } = options
    const link = linkSignals(signal)
    const openedAt = clock.monotonic()
    try {
      const stream = await within(clock, limit, source.watch({ ...request, signal: link.signal }), link.signal)
      if (stream !== undefined) return new WatchReader(clock, openedAt, link, stream[Symbol.asyncIterator]())
    } catch (error) {
      link[Symbol.dispose]()
      throw error
    }
    link.abort(new Error('The watch was not answered in time'))
    return undefined
  }

  /** The next batch; waits at most `limit` milliseconds. Throws what the stream throws. */
  async next(limit: number): Promise<readonly WatchEvent<Item<T>>[] | WatchPause> {
    if (this.#returned !== undefined) {
      const events = this.#returned
      this.#returned = undefined
      return events
    }
    const result = await within(this.#clock, limit, this.#iterator.next(), this.#link.signal)
    if (result === undefined) return 'silence'
    return result.done === true ? 'end' : result.value
  }

  /** Gives events back, to be read next. */
  giveBack(events: readonly WatchEvent<Item<T>>[]): void {
    if (events.length > 0) this.#returned = events
  }

  /** Ends the watch. */
  close(): void {
    this.#link.abort(new Error('The watch is no longer wanted'))
    // A stream that hangs would never come back from it, so nobody waits.
    void this.#iterator.return?.()?.then(undefined, () => undefined)
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Follows a promise for at most `limit` milliseconds; undefined afterwards. */
function within<T>(clock: Clock, limit: number, promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(limit, () => resolve(undefined), 'watch silence')
    abortable(promise, signal).then(
      (value) => {
        timer.cancel()
        resolve(value)
      },
      (error: unknown) => {
        timer.cancel()
        reject(error)
      },
    )
  })
}
