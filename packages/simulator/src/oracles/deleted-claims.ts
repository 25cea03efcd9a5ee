import type { PersistentVolumeClaim, Pod } from '@kubewright/k8s'
import { objectId } from '../define/object-id.ts'
import { defineOracle, type RunOracle } from './define-oracle.ts'

/**
 * At rest, no pod may use a volume claim that the operator has deleted: the data is lost when the pod ends. A roll-out that cannot
 * finish keeps such pods.
 */
export const deletedClaims: RunOracle = defineOracle({
  name: 'data',
  property: 'no pod uses a claim that the operator has deleted',
  needs: 'run',
  check({ world, objects }, report) {
    if (world.setup.faults.haveOwnEnd(world.schedule.faults)) return
    const pods = objects.filter((object): object is Pod => object.kind === 'Pod')
    if (pods.some(({ status }) => status?.phase === 'Pending')) return
    for (const claim of objects.filter(
      (object): object is PersistentVolumeClaim => object.kind === 'PersistentVolumeClaim',
    )) {
      if (claim.metadata.deletionTimestamp === undefined || !world.log.data.isDeleted(claim)) continue
      const user = pods.find((pod) => pod.metadata.deletionTimestamp === undefined && usesClaim(pod, claim))
      if (user !== undefined) report(`The operator deletes ${objectId(claim)}, which ${objectId(user)} uses`)
    }
  },
})

const usesClaim = ({ metadata, spec }: Pod, claim: PersistentVolumeClaim): boolean =>
  metadata.namespace === claim.metadata.namespace &&
  (spec?.volumes ?? []).some((volume) => volume.persistentVolumeClaim?.claimName === claim.metadata.name)
