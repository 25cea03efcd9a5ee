import {
  type Evaluated,
  type ExpressionInput,
  evaluateConditions,
  expressionBudget,
  OutOfBudgetError,
} from '../expressions/condition.ts'
import { MatchConditionError, matchesConditions } from '../expressions/match-conditions.ts'
import type { CompiledPolicy, CompiledValidation } from './compile-policy.ts'

/** The size limit of a message in bytes. */
const maxMessage = 5 * 1024

/** The result of one validation. */
export interface Decision {
  readonly denied: boolean
  readonly message: string
  /** Empty when an expression could not be evaluated. */
  readonly reason: string
}

/** The result of a policy for one set of parameters. */
export interface PolicyResult {
  /** One for each validation, or a single one for all. */
  readonly decisions: readonly Decision[]
  /** Audit annotations to publish, and errors that deny the request. */
  readonly annotations: readonly {
    readonly key: string
    readonly value?: string | undefined
    readonly error?: string | undefined
  }[]
}

const nothing: PolicyResult = { decisions: [], annotations: [] }

/** Evaluates a policy for a request and one set of parameters (admission/plugin/policy/validating/validator.go). */
export async function evaluatePolicy(policy: CompiledPolicy, input: ExpressionInput): Promise<PolicyResult> {
  const { failurePolicy, validations } = policy
  const denies = failurePolicy !== 'Ignore'
  const failed = (error: unknown): PolicyResult => {
    if (!(error instanceof OutOfBudgetError || error instanceof MatchConditionError)) throw error
    return { ...nothing, decisions: [{ denied: denies, message: error.message, reason: '' }] }
  }
  const full = { ...input, variables: policy.variables }
  const { authorizer: _, ...plain } = full
  try {
    const unscoped = { ...full, namespaceObject: null }
    if (!(await matchesConditions(policy.matchConditions, unscoped, failurePolicy))) return nothing
    const conditions = validations.map(({ condition }) => condition)
    const { results, remaining } = await evaluateConditions(conditions, full, expressionBudget)
    const messages = await evaluateMessages(policy, plain, results, remaining)
    const decisions = results.map((result, index) => {
      if (result!.error !== undefined) return { denied: denies, message: result!.error, reason: '' }
      if (typeof messages === 'string') return { denied: denies, message: messages, reason: '' }
      return decide(validations[index]!, result!, messages[index])
    })
    return { decisions, annotations: await evaluateAnnotations(policy, plain) }
  } catch (error) {
    return failed(error)
  }
}

/** Evaluates the message expressions, only when a validation failed. */
async function evaluateMessages(
  { validations }: CompiledPolicy,
  input: ExpressionInput,
  results: readonly (Evaluated | undefined)[],
  budget: number,
): Promise<readonly (Evaluated | undefined)[] | string> {
  if (results.every((result) => result?.error === undefined && result?.value === true)) return []
  try {
    const expressions = validations.map(({ messageExpression }) => messageExpression)
    return (await evaluateConditions(expressions, input, budget)).results
  } catch (error) {
    if (!(error instanceof OutOfBudgetError)) throw error
    return `failed messageExpression: ${error.message}`
  }
}

function decide(
  { condition, message, reason }: CompiledValidation,
  result: Evaluated,
  shown: Evaluated | undefined,
): Decision {
  if (result.error === undefined && result.value === true) return { denied: false, message: '', reason: '' }
  return {
    denied: true,
    message: usableMessage(shown) || message || `failed expression: ${condition.expression.trim()}`,
    reason,
  }
}

/** Drops messages that are too long or have several lines. */
function usableMessage(message: Evaluated | undefined): string {
  if (message?.error !== undefined || typeof message?.value !== 'string') return ''
  const text = message.value.trim()
  return Buffer.byteLength(text) > maxMessage || text.includes('\n') ? '' : text
}

async function evaluateAnnotations(
  { auditAnnotations, failurePolicy }: CompiledPolicy,
  input: ExpressionInput,
): Promise<PolicyResult['annotations']> {
  if (auditAnnotations.length === 0) return []
  const conditions = auditAnnotations.map(({ condition }) => condition)
  const { results } = await evaluateConditions(conditions, input, expressionBudget)
  return results.flatMap((result, index): PolicyResult['annotations'] => {
    const { key } = auditAnnotations[index]!
    if (result!.error !== undefined) return failurePolicy === 'Ignore' ? [] : [{ key, error: result!.error }]
    const value = typeof result!.value === 'string' ? result!.value.trim() : ''
    return value === '' ? [] : [{ key, value }]
  })
}
