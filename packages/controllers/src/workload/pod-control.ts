import { findCause, isApiError, isNotFound, type KubeObject, type Reads } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { Pod, type PodDraft } from '@kubewright/k8s'
import type { Cluster, EventRecorder } from '@kubewright/runtime'
import { assertRoomForPod } from './pod-budget.ts'

/** Dependencies of {@link createPod} and {@link deletePod}. */
export interface PodControlParts {
  readonly client: Client
  readonly events: EventRecorder
  /** Holds the number of pods, which is limited. */
  readonly cluster: Pick<Cluster, 'cache'>
}

/** Creates a pod and records the outcome in an Event of the owner. */
export async function createPod(
  { client, events, cluster }: PodControlParts,
  owner: KubeObject,
  draft: PodDraft & Reads<Pod>,
): Promise<Pod> {
  try {
    assertRoomForPod(cluster)
    const pod = await client.create(draft)
    events.record(owner, { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${pod.metadata.name}` })
    return pod
  } catch (error) {
    // In a terminating namespace every create fails, so an Event would be noise.
    if (!isNamespaceTerminating(error)) {
      events.record(owner, { type: 'Warning', reason: 'FailedCreate', message: `Error creating: ${errorText(error)}` })
    }
    throw error
  }
}

/** Deletes a pod and records the outcome in an Event of the owner. Does nothing when the pod is already gone. */
export async function deletePod({ client, events }: PodControlParts, owner: KubeObject, pod: Pod): Promise<void> {
  const { namespace = '', name, uid } = pod.metadata
  try {
    await client.delete(Pod, { namespace, name }, { preconditions: { uid } })
    events.record(owner, { type: 'Normal', reason: 'SuccessfulDelete', message: `Deleted pod: ${name}` })
  } catch (error) {
    if (isNotFound(error)) return
    events.record(owner, { type: 'Warning', reason: 'FailedDelete', message: `Error deleting: ${errorText(error)}` })
    throw error
  }
}

/** Whether a write failed because the namespace is being deleted or is gone. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (findCause(error, 'NamespaceTerminating') !== undefined) return true
  return isApiError(error) && isNotFound(error) && error.status.details?.kind === 'namespaces'
}

/** The message of a thrown value. */
