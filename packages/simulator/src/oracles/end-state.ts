import { type Difference, differenceText } from '../fairness/comparable-state.ts'
import { fairRuleFor } from '../fairness/fair-differences.ts'
import { generatedDifferences, generatedOf } from '../fairness/generated-children.ts'
import { defineOracle, type ReferenceOracle } from './define-oracle.ts'

const maxDetails = 12
const hint = 'if the history is meant to matter, name the form in `isHeld`, or the field or kind in `ignore`'

export const endState: ReferenceOracle = defineOracle({
  name: 'end state',
  property: 'the end state equals that of runs without faults and with the same final specs',
  needs: 'reference',
  check(comparison, report) {
    const { run, reference, written } = comparison
    const found = [
      ...comparison.differences.filter((difference) => fairRuleFor(difference, comparison) === undefined),
      ...generatedDifferences(run, reference, generatedOf(run.objects, written)),
    ]
    if (found.length === 0) return
    // Whole objects first: they explain more than a field.
    found.sort((a, b) => Number(a.path !== '') - Number(b.path !== ''))
    const isFaultFree = run.world.schedule.faults.length === 0
    const failures = run.errorsAtRest.map((error) => `reconcile keeps failing: ${error}`)
    const details = [...found.slice(0, maxDetails).map(differenceText), ...failures.slice(0, 2)]
    report(messageOf(found, isFaultFree), isFaultFree ? [...details, hint] : details)
  },
})

function messageOf(found: readonly Difference[], isFaultFree: boolean): string {
  const [first] = found
  const cause = isFaultFree ? 'the history of the objects' : 'the fault'
  const more = found.length > 1 ? `, and ${found.length - 1} more difference${found.length > 2 ? 's' : ''}` : ''
  return `The end state depends on ${cause}: ${first === undefined ? '' : differenceText(first)}${more}`
}
