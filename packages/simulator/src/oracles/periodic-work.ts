import type { Reference } from '../fairness/reference.ts'
import type { Run } from '../world/run-schedule.ts'
import { defineOracle, type RerunOracle } from './define-oracle.ts'

// Work with a longer period may happen once in the time of an observation.
const periodicMillis = 3 * 60_000
// Work that is periodic still happens then.
const lateMillis = 30 * 60_000

/**
 * Periodic work continues after faults, such as renewals. Both runs are repeated with more time at rest: work
 * that happens a few times only may end earlier or later.
 */
export const periodicWork: RerunOracle = defineOracle({
  name: 'settles',
  property: 'work that repeats at rest, such as a renewal, continues',
  needs: 'rerun',
  async check({ run, reference, referenceSchedule, rerun }, report) {
    if (reference === undefined || referenceSchedule === undefined) return
    if (silentKindsOf(run, reference.timesAtRest).length === 0) return
    const expected = await rerun(referenceSchedule, { isLong: true })
    const actual = await rerun(run.world.schedule, { isLong: true })
    for (const kind of silentKindsOf(actual, expected.timesAtRest)) {
      const times = expected.timesAtRest.get(kind) ?? []
      if (times.at(-1)! < lateMillis) continue
      report(
        `The operator no longer does its periodic work: it wrote ${kind} ${times.length} times within 40 minutes at rest without faults, and never after the fault`,
      )
    }
  },
})

/** The kinds that the operator writes again and again at rest without faults, and never in a run. */
function silentKindsOf({ world, timesAtRest }: Run, expected: Reference['timesAtRest']): string[] {
  if (world.setup.faults.haveOwnEnd(world.schedule.faults)) return []
  return [...expected]
    .filter(([kind, times]) => !timesAtRest.has(kind) && times.at(-1)! - times[0]! >= periodicMillis)
    .map(([kind]) => kind)
}
