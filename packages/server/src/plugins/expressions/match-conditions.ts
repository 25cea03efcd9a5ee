import { aggregateMessages } from '../../auth/authenticator.ts'
import { type Condition, type ExpressionInput, evaluateConditions, matchConditionBudget } from './condition.ts'

/** Conditions could not be evaluated, and the failure policy does not let that pass. */
export class MatchConditionError extends Error {
  override readonly name = 'MatchConditionError'
}

/**
 * Whether all conditions hold (admission/plugin/webhook/matchconditions). One that does not hold decides; otherwise an error means no,
 * or, when failures are not to be ignored, {@link MatchConditionError}.
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
