import { once } from 'node:events'
import type { ApiClient } from 'kubewright/client'
import { Pod } from 'kubewright/k8s'
import {
  type Clock,
  type InformerLease,
  keyOf,
  SharedInformerFactory,
  systemClock,
  WorkQueue,
} from 'kubewright/runtime'

/** Options of {@link PodController}. */
export interface PodControllerOptions {
  readonly client: ApiClient
  /** Pods that existed when the program last ran, so that it detects deletions since then. @default none */
  readonly known?: readonly Pod[]
  readonly print: (line: string) => void
  readonly log: (line: string) => void
  /** Processes a key. The pod is undefined when it no longer exists. @default prints it */
  readonly sync?: (key: string, pod: Pod | undefined) => void | Promise<void>
  /** @default the system clock */
  readonly clock?: Clock
}

const maxRetries = 5

/**
 * Processes the pods of the namespace `default`. Handlers add keys to a work queue; workers take them out and read the
 * pod from the store. Changes of a pod that arrive while its key is queued are coalesced, and a key is never processed
 * by two workers at a time.
 */
export class PodController {
  readonly #log: (line: string) => void
  readonly #sync: NonNullable<PodControllerOptions['sync']>
  readonly #factory: SharedInformerFactory
  readonly #pods: InformerLease<Pod>
  readonly #queue: WorkQueue

  constructor(options: PodControllerOptions) {
    const { client, known = [], print, clock = systemClock } = options
    this.#log = options.log
    this.#sync = options.sync ?? ((key, pod) => print(describe(key, pod)))
    this.#queue = new WorkQueue({ clock, name: 'pods' })
    this.#factory = new SharedInformerFactory({ client, clock, scope: { namespace: 'default' } })
    this.#pods = this.#factory.use(Pod)
    this.#pods.addHandler({
      onAdd: (pod) => this.#queue.add(keyOf(pod)),
      onUpdate: (_, pod) => this.#queue.add(keyOf(pod)),
      // Also called when the watch missed the deletion; `pod` is then the last known state.
      onDelete: (pod) => this.#queue.add(keyOf(pod)),
    })
    this.#pods.informer.seed(known)
  }

  /** Processes keys until the signal aborts, then drains the queue. */
  async run(workers: number, signal: AbortSignal): Promise<void> {
    this.#log('Starting Pod controller')
    this.#factory.start()
    await this.#factory.waitForSync({ timeout: '2m', signal })
    const working = Array.from({ length: workers }, () => this.#work())
    if (!signal.aborted) await once(signal, 'abort')
    this.#log('Stopping Pod controller')
    await this.#queue.shutDown({ pending: 'drain' })
    await Promise.all(working)
    await this.#factory.shutDown()
  }

  async #work(): Promise<void> {
    for (let taken = await this.#queue.get(); taken !== undefined; taken = await this.#queue.get()) {
      await this.#process(taken.key)
      this.#queue.done(taken.key)
    }
  }

  async #process(key: string): Promise<void> {
    try {
      await this.#sync(key, this.#pods.informer.store.get(key))
      this.#queue.forget(key)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      if (this.#queue.numRequeues(key) < maxRetries) {
        this.#log(`Error syncing pod ${key}: ${reason}`)
        this.#queue.addRateLimited(key)
        return
      }
      this.#queue.forget(key)
      this.#log(`Dropping pod "${key}" out of the queue: ${reason}`)
    }
  }
}

function describe(key: string, pod: Pod | undefined): string {
  return pod === undefined ? `Pod ${key} does not exist anymore` : `Sync/Add/Update for Pod ${pod.metadata.name}`
}
