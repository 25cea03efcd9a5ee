import { defineOracle, type RunOracle } from './define-oracle.ts'

export const crashLoop: RunOracle = defineOracle({
  name: 'crash loop',
  property: 'the operator does not keep exiting',
  needs: 'run',
  check({ world }, report) {
    const { exits } = world.processes
    const recent = exits.filter((time) => time > world.now - 25 * 60_000)
    if (recent.length > 3) report(`The operator has ended ${recent.length} times by itself since the last fault`)
  },
})
