import { defineOracle, type ReferenceOracle } from './define-oracle.ts'

export const settles: ReferenceOracle = defineOracle({
  name: 'settles',
  property: 'reconciles do not keep failing or hang after the faults have ended',
  needs: 'reference',
  check({ run, reference }, report) {
    const [problem] = run.problemsAtRest
    if (problem !== undefined && reference.problemsAtRest.length === 0) {
      report(`A controller does not work 15 minutes after the last fault: ${problem}`)
    }
    const [failing] = run.errorsAtRest
    if (failing !== undefined && reference.errorsAtRest.length === 0) {
      report(`Reconciles still fail 15 minutes after the last fault: ${failing}`)
    }
  },
})
