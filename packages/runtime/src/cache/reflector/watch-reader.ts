import type { KubeObject } from '@kubewright/api'
import { abortable, type Clock, type LazySignal, type LinkedController, linkSignals } from '@kubewright/base'
import type { Item } from '../store/item.ts'
import type { ListWatch, WatchEvent, WatchOptions } from './list-watch.ts'

/** The results of {@link WatchReader.next} other than events: the stream ended, or nothing arrived in time. */
export type WatchPause = 'end' | 'silence'

/**
 * Reads one watch in batches, with a limit on silence. No call waits longer than its limit, however the server behaves.
 * After `close`, no request or timer is left.
 */
export class WatchReader<T extends KubeObject> implements Disposable {
  readonly #clock: Clock
  readonly #link: LinkedController
  readonly #iterator: AsyncIterator<readonly WatchEvent<Item<T>>[]>
  // Events that were given back, to be read next.
  #returned: readonly WatchEvent<Item<T>>[] | undefined
  /** The monotonic time of the request: some proxies delay the response until the first event. */
  readonly openedAt: number

  private constructor(
    clock: Clock,
    openedAt: number,
    link: LinkedController,
    iterator: AsyncIterator<readonly WatchEvent<Item<T>>[]>,
  ) {
    this.#clock = clock
    this.#link = link
    this.#iterator = iterator
    this.openedAt = openedAt
  }

  /** Opens a watch; undefined when there was no response within `limit` milliseconds. */
  static async open<T extends KubeObject>(
    source: ListWatch<T>,
    options: WatchOptions & { readonly clock: Clock; readonly limit: number },
  ): Promise<WatchReader<T> | undefined> {
    const { clock, limit, signal, ...request } = options
    const link = linkSignals(signal)
    const openedAt = clock.monotonic()
    try {
      const stream = await within(clock, limit, source.watch({ ...request, signal: link.signal }), link)
      if (stream !== undefined) return new WatchReader(clock, openedAt, link, stream[Symbol.asyncIterator]())
    } catch (error) {
      link[Symbol.dispose]()
      throw error
    }
    link.abort(new Error('The server did not respond to the watch in time'))
    return undefined
  }

  /** The next batch; waits at most `limit` milliseconds. Rethrows errors of the stream. */
  async next(limit: number): Promise<readonly WatchEvent<Item<T>>[] | WatchPause> {
    if (this.#returned !== undefined) {
      const events = this.#returned
      this.#returned = undefined
      return events
    }
    const result = await within(this.#clock, limit, this.#iterator.next(), this.#link)
    if (result === undefined) return 'silence'
    return result.done === true ? 'end' : result.value
  }

  /** Returns events to the reader, to be read next. */
  giveBack(events: readonly WatchEvent<Item<T>>[]): void {
    if (events.length > 0) this.#returned = events
  }

  /** Closes the watch. */
  close(): void {
    this.#link.abort(new Error('The watch was closed'))
    // Not awaited: a hanging stream would never settle.
    void this.#iterator.return?.()?.then(undefined, () => undefined)
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Awaits a promise for at most `limit` milliseconds; undefined afterwards. */
function within<T>(clock: Clock, limit: number, promise: Promise<T>, signal: LazySignal): Promise<T | undefined> {
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
