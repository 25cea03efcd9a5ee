import { objectId } from '../define/object-id.ts'
import { calmly } from '../define/schedule.ts'
import { hasEdits } from '../fairness/fair-differences.ts'
import type { ReplacedData } from '../world/data-log.ts'
import { defineOracle, type RerunOracle } from './define-oracle.ts'

/**
 * No fault makes the operator lose data of an owner that exists. A loss that also happens without faults, when
 * every operation waits for the one before, is the consequence of the operations; and an object that does not exist then has no
 * data to lose: a stale view creates it again for a moment.
 */
export const lostData: RerunOracle = defineOracle({
  name: 'data',
  property:
    'a fault does not make the operator delete a PersistentVolumeClaim or a Secret that is created again, or replace values of a Secret',
  needs: 'rerun',
  async check({ run, reference, rerun }, report) {
    const { world, objects } = run
    const { operations, faults } = world.schedule
    if (reference === undefined || faults.length === 0 || world.setup.faults.have(faults, 'time jumps')) return
    const owners = new Set(objects.map(({ metadata }) => metadata.uid))
    const { data } = world.log
    const hasDeletions = operations.some((operation) => operation.do === 'delete')
    // After deletions, what has no owner may go too; but not when its object exists again.
    const isKept = ({ owner, isRecreated }: ReplacedData): boolean =>
      owner === '' ? !hasDeletions || (data.isRenewed && isRecreated) : owners.has(owner)
    // A StatefulSet creates claims for replicas that a user has added for a moment.
    const lost = data.lostOf(objects).filter((one) => isKept(one) && (one.isOwn || !hasEdits(run)))
    if (lost.length === 0) return
    // Longer than the run, so that a loss by design, such as the rotation of a password, happens in it too.
    const expected = await rerun(calmly(world.schedule), { isLong: true })
    const kept = new Set(expected.objects.map(objectId))
    const usual = new Set(expected.world.log.data.lostOf(expected.objects).map(({ id }) => id))
    for (const { id, text } of lost) {
      if (!usual.has(id) && kept.has(id)) report(`A fault makes the operator lose data: ${text}`)
    }
  },
})
