import { isPlainCreation } from '../define/schedule.ts'
import { refusedNameOf } from '../fairness/refused-names.ts'
import type { Run } from '../world/run-schedule.ts'
import { defineOracle, type RunOracle } from './define-oracle.ts'

export const failingSamples: RunOracle = defineOracle({
  name: 'settles',
  property: 'reconciles of the samples succeed without faults',
  needs: 'run',
  check(run, report) {
    const [error] = run.errorsAtRest
    if (error !== undefined && hasEachSampleOnce(run)) {
      report(`Reconciles of a sample keep failing without any fault: ${error}`)
    }
  },
})

export const collidingNames: RunOracle = defineOracle({
  name: 'settles',
  property: 'two objects do not get a child of the same name',
  needs: 'run',
  check(run, report) {
    if (!isPlainCreation(run.world.schedule)) return
    const found = run.errorsAtRest.find((text) => refusedNameOf(run, text) === 'derived by the operator')
    if (found !== undefined) {
      report(`Two objects get a child of the same name, although their names differ: ${found}`)
    }
  },
})

/** Whether a run only creates given samples, each once. */
function hasEachSampleOnce({ world: { schedule, setup } }: Run): boolean {
  const { samples } = setup
  const created = new Set(schedule.operations.map(({ subject }) => samples.subjects[subject]?.sample))
  return samples.isGiven && isPlainCreation(schedule) && created.size === schedule.operations.length
}
