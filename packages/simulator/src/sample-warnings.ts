import type { KubeObject } from '@kubewright/api'
import { objectId } from './cluster-state.ts'
import type { Run } from './run-schedule.ts'
import type { Setup } from './setup.ts'

interface Condition {
  readonly type?: string
  readonly status?: string
  readonly reason?: string
  readonly message?: string
}

interface WithStatus extends KubeObject {
  readonly status?: { readonly conditions?: readonly Condition[]; readonly phase?: unknown }
}

const promises = new Set(['Ready', 'Available'])
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
  for (const object of run.objects as readonly WithStatus[]) {
    if (!setup.isSubjectKind(object.kind) || object.metadata.deletionTimestamp !== undefined) continue
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

function problemOf({ status }: WithStatus): string | undefined {
  const conditions = Array.isArray(status?.conditions) ? (status.conditions as readonly Condition[]) : []
  for (const { type = '', status: value, reason, message } of conditions) {
    if (!(promises.has(type) && value !== 'True') && !(problems.has(type) && value === 'True')) continue
    const why = [reason, message].filter((text) => text !== undefined && text !== '').join(': ')
    return `the condition ${type} is ${value}${why === '' ? '' : `, ${why}`}`
  }
  const { phase } = status ?? {}
  return conditions.length === 0 && typeof phase === 'string' && badPhases.test(phase)
    ? `its phase is ${phase}`
    : undefined
}
