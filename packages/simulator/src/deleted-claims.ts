import type { PersistentVolumeClaim, Pod } from '@kubewright/k8s'
import { objectId } from './cluster-state.ts'
import { hasOwnEnd } from './fault.ts'
import type { Run } from './run-schedule.ts'

/**
 * At rest, no pod may use a volume claim that the operator has deleted: the data is lost when the pod ends. A roll-out that cannot
 * finish keeps such pods.
 */
export function checkDeletedClaims({ world, objects }: Run): void {
  if (world.schedule.faults.some(hasOwnEnd)) return
  const pods = objects.filter((object): object is Pod => object.kind === 'Pod')
  if (pods.some(({ status }) => status?.phase === 'Pending')) return
  for (const claim of objects.filter(
    (object): object is PersistentVolumeClaim => object.kind === 'PersistentVolumeClaim',
  )) {
    if (claim.metadata.deletionTimestamp === undefined || !world.log.data.isDeleted(claim)) continue
    const user = pods.find((pod) => pod.metadata.deletionTimestamp === undefined && usesClaim(pod, claim))
    if (user === undefined) continue
    world.history.violate('data', `The operator deletes ${objectId(claim)}, which ${objectId(user)} uses`)
  }
}

const usesClaim = ({ metadata, spec }: Pod, claim: PersistentVolumeClaim): boolean =>
  metadata.namespace === claim.metadata.namespace &&
  (spec?.volumes ?? []).some((volume) => volume.persistentVolumeClaim?.claimName === claim.metadata.name)
