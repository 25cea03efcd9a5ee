import { type Difference, differenceText } from '../fairness/comparable-state.ts'
import { changesBetween } from '../fairness/reference.ts'
import { defineOracle, type RerunOracle } from './define-oracle.ts'

/**
 * A restart at rest changes nothing: otherwise the operator has missed a change before, such as that of an object to which
 * another one refers. What it does later without a restart does not count.
 */
export const missedChanges: RerunOracle = defineOracle({
  name: 'settles',
  property: 'a restart at rest changes nothing',
  needs: 'rerun',
  async check({ run: { world, objects }, reference, rerun }, report) {
    const { schedule, setup } = world
    const { beforeRestart } = world.user
    if (reference === undefined || beforeRestart === undefined || schedule.faults.length > 0) return
    const changed = changesBetween(setup, world, beforeRestart, objects)
    if (changed.length === 0) return
    const operations = schedule.operations.filter((operation) => operation.do !== 'restart')
    const later = await rerun({ ...schedule, operations }, { isLong: true })
    const usual = new Set(changesBetween(setup, later.world, beforeRestart, later.objects).map(placeOf))
    const [first, ...more] = changed.filter((difference) => !usual.has(placeOf(difference)))
    if (first === undefined) return
    report(
      `The operator has missed a change, because its restart at rest changes ${placeOf(first)}`,
      [first, ...more].map(differenceText),
    )
  },
})

const placeOf = ({ id, path }: Difference): string => (path === '' ? id : `${path} of ${id}`)
