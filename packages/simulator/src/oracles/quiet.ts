import { defineOracle, type ReferenceOracle, type RunOracle } from './define-oracle.ts'

export const quiet: RunOracle = defineOracle({
  name: 'quiet',
  property: 'within 10 minutes at rest, the operator changes an object at most 60 times (`writesAtRest`)',
  needs: 'run',
  check({ world, writesAtRest }, report) {
    for (const [id, count] of writesAtRest) {
      if (count > world.setup.writesAtRest)
        report(`The operator wrote ${id} ${count} times within ten minutes although nothing had changed`)
    }
  },
})

export const quietAfterFaults: ReferenceOracle = defineOracle({
  name: 'quiet',
  property: 'at most three times as often as without faults, plus 5',
  needs: 'reference',
  check({ run, reference }, report) {
    for (const [id, count] of run.writesAtRest) {
      const expected = reference.writesAtRest.get(id) ?? 0
      if (count > 3 * expected + 5)
        report(
          `The operator wrote ${id} ${count} times within ten minutes at rest, and ${expected} times without faults`,
        )
    }
  },
})
