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

/** What a {@link PodController} takes. */
export interface PodControllerOptions {
  readonly client: ApiClient
  /** Pods that were there when the program last ran: those that are gone since are noticed. @default none */
  readonly known?: readonly Pod[]
  readonly print: (line: string) => void
  readonly log: (line: string) => void
  /** What is done with a key; the pod is undefined when it is gone. @default it is printed */
  readonly sync?: (key: string, pod: Pod | undefined) => void | Promise<void>
  /** @default the system's */
  readonly clock?: Clock
}

const maxRetries = 5

/**
 * Follows the pods of the namespace default. Handlers put keys into a queue, workers take them out and look at the store: however
 * often a pod changes meanwhile, it is looked at once, in its newest state, and never by two workers at a time.
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
      // Also when the deletion itself was missed: then the pod is as it was last seen.
      onDelete: (pod) => this.#queue.add(keyOf(pod)),
    })
    this.#pods.informer.seed(known)
  }

  /** Works until the signal aborts, then finishes what is in the queue. */
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
