import { controllerOf, type KubeObject } from '@kubewright/api'
import type { Run } from '../world/run-schedule.ts'
import { defineOracle, type ReportViolation, type RunOracle } from './define-oracle.ts'

export const neighborsUntouched: RunOracle = defineOracle({
  name: 'others',
  property: 'the operator does not change or delete an object that belongs to another owner',
  needs: 'run',
  check(run, report) {
    const { log, faults, setup, neighbors } = run.world
    const namespaces = new Set(
      run.objects.flatMap(({ kind, metadata }) =>
        kind === 'Namespace' && metadata.deletionTimestamp === undefined ? [metadata.name] : [],
      ),
    )
    const hasLostPods = setup.faults.have(faults.fired, 'pods are deleted')
    for (const { id, uid, path } of neighbors.all) {
      const namespace = /\/namespaces\/([^/]+)\//.exec(path)?.[1] ?? ''
      // A node takes the pods of all owners with it.
      if (hasLostPods && id.startsWith('Pod ')) continue
      // A namespace that the operator or the user has created takes all its objects with it.
      const isTemporary = log.written.has(`Namespace ${namespace}`) || setup.samples.isSubjectKind('Namespace')
      if (isTemporary && !namespaces.has(namespace)) continue
      const found = run.objects.find(({ metadata }) => metadata.uid === uid)
      if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
        report(`The operator deleted ${id}, which belongs to another owner`)
      } else if (log.writes.some((write) => write.id === id && write.isEffective)) {
        report(`The operator changed ${id}, which belongs to another owner`)
      }
    }
    checkParts(run, report)
  },
})

/** Reports the objects that the operator has deleted although a neighbor controls them, such as the pods of a Deployment. */
function checkParts({ world, objects }: Run, report: ReportViolation): void {
  const byUid = new Map<string, KubeObject>(objects.map((object) => [object.metadata.uid, object]))
  const neighborOf = (uid: string): string | undefined => {
    const found = world.neighbors.all.find((one) => one.uid === uid)
    const owner = byUid.get(uid)
    return found?.id ?? (owner && neighborOf(controllerOf(owner)?.uid ?? ''))
  }
  for (const [id, owner] of world.log.deleted) {
    const neighbor = neighborOf(owner)
    if (neighbor !== undefined) report(`The operator deleted ${id}, which belongs to ${neighbor}`)
  }
}
