import { getHeapStatistics } from 'node:v8'
import { CaughtError } from '@kubewright/base'
import { Pod } from '@kubewright/k8s'
import type { Cluster } from '@kubewright/runtime'

/** About twice the memory that a pod takes in the store and in the caches, so that there is room for other objects and for garbage. */
const bytesPerPod = 24 * 1024

/** The number of pods up to which controllers create further ones. 4 GiB, the default of Node.js on large machines, allow 170,000. */
export const maxPods: number = /* @__PURE__ */ Math.floor(getHeapStatistics().heap_size_limit / bytesPerPod)

/**
 * Throws when the cluster has so many pods that further ones could end the process. A number of replicas may be any 32-bit integer, and
 * unlike kube-controller-manager, this process also holds the objects.
 */
export function assertRoomForPod({ cache }: Pick<Cluster, 'cache'>, limit: number = maxPods): void {
  const count = cache.peek(Pod)?.size ?? 0
  if (count < limit) return
  throw new CaughtError(
    `the control plane has ${count} pods and creates no more than ${limit}: reduce the replicas of its workloads, or give it more memory with NODE_OPTIONS=--max-old-space-size`,
  )
}
