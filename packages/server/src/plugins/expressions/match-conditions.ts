import { CaughtError } from '@kubewright/base'
import { aggregateMessages } from '../../request/aggregate-messages.ts'
import { type Condition, type ExpressionInput, evaluateConditions, matchConditionBudget } from './condition.ts'

/** Conditions failed to evaluate and the failure policy is Fail. */
export class MatchConditionError extends CaughtError {
  override readonly name = 'MatchConditionError'
}

/**
 * Whether all conditions are true (admission/plugin/webhook/matchconditions). A false condition takes precedence over errors. An
 * error means false when the failure policy is Ignore, and throws {@link MatchConditionError} otherwise.
 */
export async function matchesConditions(
  conditions: readonly Condition[],
  input: ExpressionInput,
  failurePolicy: string,
): Promise<boolean> {
  if (conditions.length === 0) return true
  const errors: string[] = []
  try {
    const { results } = await evaluateConditions(conditions, input, matchConditionBudget)
    for (const result of results) {
      if (result?.error !== undefined) errors.push(result.error)
      else if (result?.value === false) return false
    }
  } catch (error) {
    errors.push((error as Error).message)
  }
  if (errors.length === 0) return true
  if (failurePolicy === 'Ignore') return false
  throw new MatchConditionError(aggregateMessages(errors))
}
