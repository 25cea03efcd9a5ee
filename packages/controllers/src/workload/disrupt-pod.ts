import { isConflict, isNotFound, toTime } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { Pod, type PodCondition, type PodStatus } from '@kubewright/k8s'
import { isPodTerminal } from './pod-state.ts'

/** The condition DisruptionTarget, which explains why a controller deletes a pod. */
export function disruptionTarget(pod: Pod, reason: string, message: string, now: number): PodCondition {
  return {
    type: 'DisruptionTarget',
    observedGeneration: pod.metadata.generation ?? 0,
    status: 'True',
    reason,
    message,
    lastTransitionTime: toTime(now),
  }
}

/**
 * Patches the status of a pod that still runs, then deletes the pod. The status is written first, because the owner
 * uses it to decide whether to replace the pod. Does nothing when the pod is gone or was replaced by another one of the
 * same name.
 */
export async function disruptPod(
  client: Client,
  pod: Pod,
  { status, gracePeriodSeconds }: { readonly status: PodStatus; readonly gracePeriodSeconds?: number | undefined },
): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata
  try {
    if (!isPodTerminal(pod)) {
      const patch = { metadata: { uid }, status }
      await client.subresource(Pod, 'status').patch({ namespace, name }, patch, { type: 'strategic' })
    }
    const grace = gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }
    await client.delete(Pod, { namespace, name }, { ...grace, preconditions: { uid } })
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error
  }
}
