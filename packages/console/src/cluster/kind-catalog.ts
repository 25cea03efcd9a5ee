import type { Clock, Timer } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { KindInfo } from '../wire/names.ts'
import type { Kinds } from './cluster-view.ts'
import { followList } from './follow-list.ts'
import { listKinds } from './list-kinds.ts'
import { problemText } from './problem-text.ts'

// A CRD changes several times while it is installed.
const settleMillis = 200
const retryMillis = 5000
const definitions = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' }

/** The kinds of a cluster, read again when a CRD changes. Sends requests only while there are listeners. */
export class KindCatalog implements Kinds {
  readonly #client: ApiClient
  readonly #clock: Clock
  readonly #listeners = new Set<() => void>()
  #kinds: readonly KindInfo[] = []
  #problem: string | undefined
  #stop: AbortController | undefined
  #timer: Timer | undefined

  constructor(client: ApiClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  /** Empty until the first discovery has ended. */
  get kinds(): readonly KindInfo[] {
    return this.#kinds
  }

  get problem(): string | undefined {
    return this.#problem
  }

  /** Calls the listener after each change. */
  listen(listener: () => void): Disposable {
    const own = (): void => listener()
    this.#listeners.add(own)
    if (this.#stop === undefined) this.#start()
    return {
      [Symbol.dispose]: () => {
        this.#listeners.delete(own)
        if (this.#listeners.size === 0) this.#end()
      },
    }
  }

  #start(): void {
    const stop = new AbortController()
    this.#stop = stop
    const again = (): void => this.#discoverAfter(settleMillis)
    void this.#discover()
    // Without permission to watch CRDs, the kinds stay those of the first discovery.
    void followList(this.#client.rest, this.#clock, {
      signal: stop.signal,
      resource: definitions,
      form: 'metadata',
      sink: { page: () => undefined, listed: () => undefined, event: again, state: () => undefined },
    })
  }

  #end(): void {
    this.#stop?.abort()
    this.#stop = undefined
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #discoverAfter(millis: number): void {
    this.#timer?.cancel()
    this.#timer = this.#clock.setTimer(millis, () => void this.#discover(), 'discovery of the console')
  }

  async #discover(): Promise<void> {
    const signal = this.#stop?.signal
    if (signal === undefined) return
    try {
      const kinds = await listKinds(this.#client.discovery, { signal })
      this.#problem = undefined
      if (JSON.stringify(kinds) === JSON.stringify(this.#kinds)) return
      this.#kinds = kinds
    } catch (error) {
      if (signal.aborted) return
      this.#problem = problemText(error)
      this.#discoverAfter(retryMillis)
    }
    for (const listener of [...this.#listeners]) listener()
  }
}
