import type { Duration, KubeObject } from 'kubewright'
import type { ApiClient } from 'kubewright/client'
import { Pod } from 'kubewright/k8s'
import { type Clock, type InformerLease, SharedInformerFactory } from 'kubewright/runtime'

/** Options of {@link startPodInformer}. */
export interface PodInformerOptions {
  readonly client: ApiClient
  /** @default 'default' */
  readonly namespace?: string
  /** @default all pods of the namespace */
  readonly labelSelector?: string
  readonly print: (line: string) => void
  /** The interval at which every pod is delivered again. @default '30s' */
  readonly resyncPeriod?: Duration
  /** @default the system clock */
  readonly clock?: Clock
  readonly signal?: AbortSignal
}

/** A running informer. `pods` reads from its store without a request to the server. */
export interface PodInformer extends AsyncDisposable {
  readonly pods: InformerLease<Pod>['lister']
}

/** Prints the events of the pods that a filtered factory watches. Resolves when the store contains all existing pods. */
export async function startPodInformer(options: PodInformerOptions): Promise<PodInformer> {
  const { client, namespace = 'default', labelSelector, print, resyncPeriod = '30s', clock, signal } = options
  const scope = { namespace, ...(labelSelector === undefined ? {} : { labelSelector }) }
  const factory = new SharedInformerFactory({ client, scope, resyncPeriod, ...(clock === undefined ? {} : { clock }) })
  const { lister, addHandler } = factory.use(Pod)
  addHandler({
    onAdd: (pod, { isInInitialList }) => print(`Added: ${keyOf(pod)}${isInInitialList ? ' (was there)' : ''}`),
    onUpdate: (before, after) => {
      // A resync delivers every pod again. An equal resource version means that the pod has not changed.
      if (before.metadata.resourceVersion === after.metadata.resourceVersion) print(`Unchanged: ${keyOf(after)}`)
      else print(`Updated: ${keyOf(after)}`)
    },
    onDelete: (pod) => print(`Deleted: ${keyOf(pod)}`),
  })
  factory.start()
  await factory.waitForSync({ timeout: '1m', ...(signal === undefined ? {} : { signal }) })
  return { pods: lister, [Symbol.asyncDispose]: () => factory.shutDown() }
}

const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`
