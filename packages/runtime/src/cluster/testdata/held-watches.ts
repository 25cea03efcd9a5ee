import type { KubeObject } from '@kubewright/api'
import { AsyncQueue, drainMicrotasks, onAbort } from '@kubewright/base'
import type { ApiClient, EncodedObject, WatchEvent } from '@kubewright/client'

type Event = WatchEvent<EncodedObject<KubeObject>>
type Events = readonly Event[]

/**
 * The reading side of a client whose watches can be held back: while they are, what the server sends is kept, and a test lets as
 * much of it through as it likes. Initial states are never held back.
 */
export class HeldWatches {
  readonly source: Pick<ApiClient, 'encodedPage' | 'watch'>
  readonly #held: { readonly stream: AsyncQueue<Events>; readonly event: Event }[] = []
  #isHolding = false

  constructor(api: ApiClient) {
    this.source = {
      encodedPage: (kind, options) => api.encodedPage(kind, options),
      watch: async (kind, options) => {
        const watch = await api.watch(kind, options)
        const stream = new AsyncQueue<Events>()
        onAbort(options?.signal, () => stream.close())
        void this.#pump(watch.encoded() as AsyncIterable<Events>, stream)
        // What a reflector reads of it.
        return { encoded: () => stream } as never
      },
    }
  }

  hold(): void {
    this.#isHolding = true
  }

  /** Lets some of what was held back through, oldest first. */
  async release(count: number = this.#held.length): Promise<void> {
    for (const { stream, event } of this.#held.splice(0, count)) if (!stream.closed) stream.push([event])
    await drainMicrotasks()
  }

  /** Lets everything through, now and from now on. */
  async open(): Promise<void> {
    this.#isHolding = false
    await this.release()
  }

  async #pump(batches: AsyncIterable<Events>, stream: AsyncQueue<Events>): Promise<void> {
    let isInitial = true
    try {
      for await (const batch of batches) {
        for (const event of batch) {
          if (this.#isHolding && !isInitial) this.#held.push({ stream, event })
          else if (!stream.closed) stream.push([event])
          if (event.type === 'BOOKMARK' && event.initialEventsEnd) isInitial = false
        }
      }
      stream.close()
    } catch (error) {
      if (!stream.closed) stream.fail(error)
    }
  }
}
