import { type Difference, differenceText } from './cluster-state.ts'
import { comparisonOf, fairRuleFor, hasNoExpectedEnd } from './fair-differences.ts'
import { hasOwnEnd } from './fault.ts'
import { generatedDifferences, generatedOf } from './generated-children.ts'
import type { Reference } from './reference.ts'
import type { Run } from './run-schedule.ts'
import type { Setup } from './setup.ts'
import type { Violation } from './violation.ts'

const maxDetails = 12

/** Compares a run with its reference. Returns what differs, and does not change the run. */
export function compareRun(setup: Setup, run: Run, reference: Reference): Violation[] {
  const { world } = run
  if (world.isOver && world.history.violations.length > 0) return []
  if (world.schedule.faults.some(hasOwnEnd)) return []
  const comparison = comparisonOf(setup, run, reference)
  if (hasNoExpectedEnd(comparison)) return []
  const found = [
    ...comparison.differences.filter((difference) => fairRuleFor(difference, comparison) === undefined),
    ...generatedDifferences(run, reference, generatedOf(run.objects, comparison.written)),
  ]
  // Whole objects first: they explain more than a field.
  found.sort((a, b) => Number(a.path !== '') - Number(b.path !== ''))
  if (found.length > 0) {
    const failures = run.errorsAtRest.map((error) => `reconcile keeps failing: ${error}`)
    const hint = 'if the history is meant to matter, name the form in `isHeld`, or the field or kind in `ignore`'
    const hints = world.schedule.faults.length === 0 ? [hint] : []
    const details = [...found.slice(0, maxDetails).map(differenceText), ...failures.slice(0, 2), ...hints]
    return [{ oracle: 'end state', message: endStateMessage(world, found), details }]
  }
  const violations: Violation[] = []
  const violate = (oracle: string, message: string): void => void violations.push({ oracle, message, details: [] })
  const [problem] = run.problemsAtRest
  if (problem !== undefined && reference.problemsAtRest.length === 0) {
    violate('settles', `A controller does not work 15 minutes after the last fault: ${problem}`)
  }
  const [failing] = run.errorsAtRest
  if (failing !== undefined && reference.errorsAtRest.length === 0) {
    violate('settles', `Reconciles still fail 15 minutes after the last fault: ${failing}`)
  }
  for (const [id, count] of run.writesAtRest) {
    const expected = reference.writesAtRest.get(id) ?? 0
    if (count > 3 * expected + 5) {
      violate(
        'quiet',
        `The operator wrote ${id} ${count} times within ten minutes at rest, and ${expected} times without faults`,
      )
    }
  }
  return violations
}

// Work with a longer period may happen once in the time of an observation.
const periodicMillis = 3 * 60_000

/** The kinds that the operator writes again and again at rest without faults, and never in a run. */
export function silentKindsOf({ world, timesAtRest }: Run, expected: Reference['timesAtRest']): string[] {
  if (world.schedule.faults.some(hasOwnEnd)) return []
  return [...expected]
    .filter(([kind, times]) => !timesAtRest.has(kind) && times.at(-1)! - times[0]! >= periodicMillis)
    .map(([kind]) => kind)
}

function endStateMessage(world: Run['world'], found: readonly Difference[]): string {
  const [first] = found
  const cause = world.schedule.faults.length === 0 ? 'the history of the objects' : 'the fault'
  const more = found.length > 1 ? `, and ${found.length - 1} more difference${found.length > 2 ? 's' : ''}` : ''
  return `The end state depends on ${cause}: ${first === undefined ? '' : differenceText(first)}${more}`
}
