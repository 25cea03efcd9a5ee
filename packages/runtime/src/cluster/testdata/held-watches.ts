import type { KubeObject } from '@kubewright/api'
import { AsyncQueue, drainMicrotasks, onAbort } from '@kubewright/base'
import type { ApiClient, EncodedObject, WatchEvent } from '@kubewright/client'

type Event = WatchEvent<EncodedObject<KubeObject>>
type Events = readonly Event[]

/**
 * The read side of a client whose watch events can be held back and released one by one. Initial states are never held
 * back.
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
        // The only method that a reflector calls.
        return { encoded: () => stream } as never
      },
    }
  }

  hold(): void {
    this.#isHolding = true
  }

  /** Releases held events, oldest first. */
  async release(count: number = this.#held.length): Promise<void> {
    for (const { stream, event } of this.#held.splice(0, count)) if (!stream.closed) stream.push([event])
    await drainMicrotasks()
  }

  /** Releases all held events and stops holding. */
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
