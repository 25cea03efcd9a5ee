import type { Clock } from '@kubewright/base'
import type { ClusterView } from '../cluster/cluster-view.ts'
import { RecordedCluster } from '../recording/recorded-cluster.ts'
import type { Hello, StreamMessage, Topic } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'
import { openFeed } from './open-feed.ts'

// Changes within this time are sent together: fast enough for the eye, and cheap at hundreds of changes per second.
const batchMillis = 50
// A comment at this interval lets both sides notice a broken connection.
const heartbeatMillis = 15_000
// More than the page ever follows at once.
const maxFeeds = 64

/** What all pages of a console share. */
export interface StreamContext extends Omit<FeedContext, 'changed' | 'cluster'> {
  /** The live cluster; absent for a recording from a file. */
  readonly live?: ClusterView | undefined
}

/** The stream of server-sent events of one page: the changes of all topics that it follows. */
export class PageStream implements Disposable {
  readonly #hello: Hello
  readonly #clock: Clock
  readonly #context: StreamContext
  readonly #feeds = new Map<number, Feed>()
  readonly #dirty = new Set<number>()
  readonly #stop = new AbortController()
  #wake: () => void = () => undefined

  constructor(hello: Hello, context: StreamContext) {
    this.#hello = hello
    this.#clock = context.clock
    this.#context = context
  }

  /** Follows a topic under a number that the page chose. Replaces an earlier topic of that number. */
  follow(id: number, topic: Topic): void {
    this.unfollow(id)
    if (this.#stop.signal.aborted) return
    if (this.#feeds.size >= maxFeeds) throw new RangeError(`A page can follow ${maxFeeds} topics: close some first`)
    const changed = (): void => {
      this.#dirty.add(id)
      this.#wake()
    }
    const { live, rest, recording } = this.#context
    const cluster =
      live === undefined || topic.at !== undefined ? new RecordedCluster(recording, topic.at ?? recording.last) : live
    this.#feeds.set(
      id,
      openFeed(topic, { ...this.#context, cluster, rest: cluster === live ? rest : undefined, changed }),
    )
    changed()
  }

  unfollow(id: number): void {
    this.#feeds.get(id)?.[Symbol.dispose]()
    this.#feeds.delete(id)
    this.#dirty.delete(id)
  }

  /** The bytes of the stream. Changes wait in the feeds while the client does not read. Ends when the signal aborts. */
  async *chunks(signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
    const ended = AbortSignal.any([signal, this.#stop.signal])
    try {
      yield encode(this.#hello)
      let sentAt = -batchMillis
      while (!ended.aborted) {
        const woke = await this.#nextChange(ended)
        if (ended.aborted) return
        if (!woke) yield Buffer.from(': alive\n\n')
        // A change after a pause is sent at once, so that the page reacts quickly to the user.
        const early = sentAt + batchMillis - this.#clock.monotonic()
        if (early > 0) await this.#clock.sleep(early, { signal: ended }).catch(() => undefined)
        sentAt = this.#clock.monotonic()
        for (const id of [...this.#dirty]) {
          this.#dirty.delete(id)
          const feed = this.#feeds.get(id)
          for (let update = feed?.take(); update !== undefined; update = feed?.take()) {
            // The page may have replaced the topic meanwhile.
            if (this.#feeds.get(id) !== feed) break
            yield encode({ ...update, topic: id })
          }
        }
      }
    } finally {
      this[Symbol.dispose]()
    }
  }

  /** Resolves to true when a feed has changed, to false after the time of a heartbeat. */
  async #nextChange(ended: AbortSignal): Promise<boolean> {
    if (this.#dirty.size > 0) return true
    return new Promise((resolve) => {
      const timer = this.#clock.setTimer(heartbeatMillis, () => finish(false), 'heartbeat of the console')
      const onEnd = (): void => finish(true)
      const finish = (changed: boolean): void => {
        timer.cancel()
        ended.removeEventListener('abort', onEnd)
        this.#wake = () => undefined
        resolve(changed)
      }
      this.#wake = () => finish(true)
      ended.addEventListener('abort', onEnd, { once: true })
      if (ended.aborted) finish(true)
    })
  }

  [Symbol.dispose](): void {
    this.#stop.abort()
    for (const feed of this.#feeds.values()) feed[Symbol.dispose]()
    this.#feeds.clear()
    this.#dirty.clear()
  }
}

function encode(message: StreamMessage): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(message)}\n\n`)
}
