import type { KubeObject } from '@kubewright/api'
import { conditionsOf, objectId, phaseOf, promises } from '../define/object-id.ts'
import type { Run } from '../world/run-schedule.ts'
import type { Setup } from '../world/setup.ts'

const problems = new Set(['Failed', 'Degraded', 'Stalled'])
const badPhases = /^(failed|error|pending|waiting|degraded|unknown)$/i

/**
 * Warnings about the first run, which only creates the samples: an operator that waits for something, such as a missing
 * Secret, passes every check without doing its work.
 */
export function warningsOf(setup: Setup, run: Run): string[] {
  const found: string[] = []
  if (run.world.faults.actions === 0) {
    found.push('The operator sends no requests for the samples: do they have the kinds and the labels that it selects?')
  }
  for (const object of run.objects) {
    if (!setup.samples.isSubjectKind(object.kind) || object.metadata.deletionTimestamp !== undefined) continue
    const problem = problemOf(object)
    if (problem !== undefined) {
      found.push(
        `${objectId(object)} does not become ready without faults, so that the simulation covers only the work until then: ${problem}`,
      )
    }
  }
  const [error] = run.errorsAtRest
  if (error !== undefined) found.push(`Reconciles of the samples keep failing without faults: ${error}`)
  return found
}

function problemOf(object: KubeObject): string | undefined {
  const conditions = conditionsOf(object)
  for (const { type, status, reason, message } of conditions) {
    if (!(promises.has(type) && status !== 'True') && !(problems.has(type) && status === 'True')) continue
    const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ')
    return `the condition ${type} is ${status}${why === '' ? '' : `, ${why}`}`
  }
  const phase = phaseOf(object)
  const isBad = conditions.length === 0 && typeof phase === 'string' && badPhases.test(phase)
  return isBad ? `its phase is ${phase}` : undefined
}
