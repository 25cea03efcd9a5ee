import { once } from 'node:events'
import { type Client, isNotFound, type Logger } from 'kubewright'
import { Deployment } from 'kubewright/k8s'
import {
  bucketRateLimiter,
  type Clock,
  controllerOf,
  controllerRef,
  type EventRecorder,
  type InformerLease,
  isControlledBy,
  itemExponentialRateLimiter,
  keyOf,
  maxOfRateLimiter,
  parseKey,
  SharedInformerFactory,
  type SharedInformerFactoryOptions,
  WorkQueue,
} from 'kubewright/runtime'
import { Foo } from './foo.ts'

/** Options of {@link FooController}. */
export interface FooControllerOptions {
  /** Sends the writes. */
  readonly client: Pick<Client, 'create' | 'update' | 'delete' | 'subresource'>
  /** Feeds the informers. */
  readonly source: NonNullable<SharedInformerFactoryOptions['client']>
  readonly events: EventRecorder
  readonly log: Logger
  readonly clock: Clock
}

const fieldManager = 'sample-controller'
const byController = 'controller'

/** Maintains the Deployment of each Foo and reports the number of available replicas. */
export class FooController {
  readonly #options: FooControllerOptions
  readonly #factory: SharedInformerFactory
  readonly #foos: InformerLease<Foo>
  readonly #deployments: InformerLease<Deployment>
  readonly #queue: WorkQueue

  constructor(options: FooControllerOptions) {
    const { source: client, clock, log } = options
    this.#options = options
    this.#factory = new SharedInformerFactory({ client, clock, log, resyncPeriod: '30s' })
    this.#foos = this.#factory.use(Foo)
    this.#deployments = this.#factory.use(Deployment)
    this.#deployments.informer.store.addIndexer(byController, (deployment) => {
      const owner = controllerOf(deployment)
      return owner?.kind === Foo.kind ? [owner.uid] : []
    })
    const rateLimiter = maxOfRateLimiter(
      itemExponentialRateLimiter({ base: '5ms', max: '1000s' }),
      bucketRateLimiter({ clock, qps: 50, burst: 300 }),
    )
    this.#queue = new WorkQueue({ clock, name: 'Foos', rateLimiter })
    this.#foos.addHandler({
      onAdd: (foo) => this.#queue.add(keyOf(foo)),
      onUpdate: (_, foo) => this.#queue.add(keyOf(foo)),
    })
    this.#deployments.addHandler({
      onAdd: (deployment) => this.#enqueueOwner(deployment),
      onUpdate: (before, after) => {
        // A resync delivers every Deployment again. An equal resource version means that it has not changed.
        if (before.metadata.resourceVersion !== after.metadata.resourceVersion) this.#enqueueOwner(after)
      },
      onDelete: (deployment) => this.#enqueueOwner(deployment),
    })
  }

  /** Starts the informers. Resolves when their stores are synced. */
  async start(signal?: AbortSignal): Promise<void> {
    this.#options.log.info('Waiting for informer caches to sync')
    this.#factory.start()
    await this.#factory.waitForSync({ timeout: '2m', ...(signal === undefined ? {} : { signal }) })
  }

  /** Processes keys until the signal aborts. Resolves when the workers have finished. */
  async run(workers: number, signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    log.info('Starting Foo controller')
    await this.start(signal)
    log.info('Starting workers', { count: workers })
    const working = Array.from({ length: workers }, () => this.#work())
    if (!signal.aborted) await once(signal, 'abort')
    log.info('Shutting down workers')
    await this.#queue.shutDown({ pending: 'drop' })
    await Promise.all(working)
    await this.#factory.shutDown()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#factory.shutDown()
  }

  async #work(): Promise<void> {
    for (let taken = await this.#queue.get(); taken !== undefined; taken = await this.#queue.get()) {
      const { key } = taken
      try {
        await this.sync(key)
        this.#queue.forget(key)
        this.#options.log.info('Successfully synced', { key })
      } catch (error) {
        this.#options.log.error(error, 'Error syncing; requeuing for later retry', { key })
        this.#queue.addRateLimited(key)
      }
      this.#queue.done(key)
    }
  }

  /** Reconciles the Deployment of a Foo and the Foo's status with its spec. */
  async sync(key: string): Promise<void> {
    const { client, events, log } = this.#options
    const { name, namespace = '' } = parseKey(key)
    const foo = this.#foos.lister.namespace(namespace).find(name)
    if (foo === undefined) {
      log.info('Foo referenced by item in work queue no longer exists', { key })
      return
    }
    const { deploymentName, replicas } = foo.spec
    if (!deploymentName) {
      // A retry would not help. A change of the Foo adds its key again.
      log.info('Deployment name missing from object reference', { key })
      return
    }
    await this.#deleteOthers(foo, deploymentName)

    let deployment =
      this.#deployments.lister.namespace(namespace).find(deploymentName) ??
      (await client.create(deploymentFor(foo, deploymentName), { fieldManager }))
    if (!isControlledBy(deployment, foo)) {
      const message = `Resource "${deploymentName}" already exists and is not managed by Foo`
      events.record(foo, { type: 'Warning', reason: 'ErrResourceExists', message })
      throw new Error(message)
    }
    if (replicas !== undefined && replicas !== deployment.spec?.replicas) {
      deployment = await client.update(deploymentFor(foo, deploymentName), { fieldManager })
    }

    const availableReplicas = deployment.status?.availableReplicas ?? 0
    if (foo.status?.availableReplicas !== availableReplicas) {
      // The status is a subresource, so a plain update would ignore it.
      await client.subresource(Foo, 'status').update({ ...foo, status: { availableReplicas } }, { fieldManager })
    }
    events.record(foo, { type: 'Normal', reason: 'Synced', message: 'Foo synced successfully' })
  }

  /** Deletes Deployments that the Foo owns under other names. */
  async #deleteOthers(foo: Foo, deploymentName: string): Promise<void> {
    const { client, events } = this.#options
    for (const deployment of this.#deployments.informer.store.byIndex(byController, foo.metadata.uid)) {
      const { name } = deployment.metadata
      if (name === deploymentName) continue
      try {
        await client.delete(Deployment, keyOf(deployment))
        events.record(foo, { type: 'Normal', reason: 'Deleted', message: `Deleted deployment "${name}"` })
      } catch (error) {
        // Already deleted; the store has not received the event yet.
        if (!isNotFound(error)) throw error
      }
    }
  }

  #enqueueOwner(deployment: Deployment): void {
    const owner = controllerOf(deployment)
    if (owner?.kind !== Foo.kind) return
    const foo = this.#foos.lister.namespace(deployment.metadata.namespace ?? '').find(owner.name)
    if (foo !== undefined) this.#queue.add(keyOf(foo))
  }
}

function deploymentFor(foo: Foo, name: string) {
  const labels = { app: 'nginx', controller: foo.metadata.name }
  const { namespace = '' } = foo.metadata
  return Deployment({
    metadata: { name, namespace, labels, ownerReferences: [controllerRef(foo)] },
    spec: {
      ...(foo.spec.replicas === undefined ? {} : { replicas: foo.spec.replicas }),
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:latest' }] } },
    },
  })
}
