import { problemText } from '../cluster/problem-text.ts'
import type { OperatorView } from '../wire/operator-view.ts'
import type { OperatorSource } from './operator-source.ts'
import { viewOperator } from './view-operator.ts'

/** Reads the state of all operators. Never rejects: a failure is the problem of its operator. */
export type ReadOperators = (signal: AbortSignal) => Promise<readonly OperatorView[]>

/** Reads the operators from their sources. */
export function readSources(sources: readonly OperatorSource[]): ReadOperators {
  return async (signal) => Promise.all(sources.map((source, index) => viewOf(index, source, signal)))
}

async function viewOf(index: number, source: OperatorSource, signal: AbortSignal): Promise<OperatorView> {
  try {
    return viewOperator(index, source.name, await source.report(signal))
  } catch (error) {
    const problem = problemText(error)
    return {
      index,
      name: source.name,
      problem,
      controllers: [],
      caches: [],
      reconciles: [],
      calls: [],
      missingAccess: [],
    }
  }
}
