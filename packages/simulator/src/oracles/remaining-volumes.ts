import type { KubeObject } from '@kubewright/api'
import type { PersistentVolumeClaim } from '@kubewright/k8s'
import { objectId } from '../define/object-id.ts'
import { calmly } from '../define/schedule.ts'
import { defineOracle, perSimulation, type Rerun, type RerunOracle } from './define-oracle.ts'

/** The volumes of a run. */
interface Volumes {
  /** The objects that the operator has deleted. */
  readonly deleted: ReadonlySet<string>
  readonly sizes: ReadonlyMap<string, string>
}

/** The volumes of runs without faults, by operations. */
const knownVolumes = perSimulation(() => new Map<string, Volumes>())

/**
 * No fault leaves a volume behind that the operator deletes otherwise, or with another size. References have no such
 * volumes, because they never shrink; an operator that keeps them keeps them without faults too.
 */
export const remainingVolumes: RerunOracle = defineOracle({
  name: 'end state',
  property: 'no fault leaves a volume behind that the operator deletes otherwise',
  needs: 'rerun',
  async check(context, report) {
    const { run, reference } = context
    const { world, objects } = run
    const { faults, operations } = world.schedule
    if (reference === undefined || faults.length === 0 || world.setup.faults.haveOwnEnd(faults)) return
    const expected = sizesOf(reference.objects)
    const unexpected = [...sizesOf(objects)].filter(([id, size]) => expected.get(id) !== size)
    if (unexpected.length === 0) return
    const { deleted, sizes } = await volumesWithoutFaults(context)
    // An operator that keeps the volumes of deleted objects may also keep those that it had no time to delete before.
    const keepsVolumes = sizes.size > 0 && operations.some((one) => one.do === 'delete')
    for (const [id, size] of unexpected) {
      const usual = sizes.get(id)
      const remains = deleted.has(id) && !keepsVolumes
      if (!remains && (usual === undefined || usual === size)) continue
      const problem = remains
        ? `${id} remains, which the operator deletes`
        : `${id} has the size ${size}, expected ${usual}`
      report(`The end state depends on the fault: ${problem}`)
    }
  },
})

/** The volumes at the end of the schedule without its faults. */
async function volumesWithoutFaults({ run, rerun }: Rerun): Promise<Volumes> {
  const known = knownVolumes(run.world.setup)
  const schedule = calmly(run.world.schedule)
  const key = JSON.stringify(schedule.operations)
  const found = known.get(key)
  if (found !== undefined) return found
  const { objects, world } = await rerun(schedule)
  const kept = new Set(objects.map(objectId))
  const deleted = new Set([...world.log.written.keys()].filter((id) => !kept.has(id)))
  const volumes = { deleted, sizes: sizesOf(objects) }
  known.set(key, volumes)
  return volumes
}

/** The requested sizes of volumes, by claim. */
function sizesOf(objects: readonly KubeObject[]): Map<string, string> {
  const isClaim = (object: KubeObject): object is PersistentVolumeClaim => object.kind === 'PersistentVolumeClaim'
  const claims = objects.filter(isClaim)
  return new Map(claims.map((claim) => [objectId(claim), String(claim.spec.resources?.requests?.['storage'] ?? '')]))
}
