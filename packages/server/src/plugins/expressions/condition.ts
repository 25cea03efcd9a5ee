import { CaughtError, goQuote } from '@kubewright/base'
import {
  CelAuthorizerValue,
  CelCompileError,
  type CelEnvironment,
  CelError,
  type CelExpression,
  CelPlanError,
  CelResourceCheck,
  type CelValue,
  CostMeter,
} from '@kubewright/cel'
import type { RequestFacts } from '../requests/review-request.ts'
import type { ReviewedObjects, ReviewedRequest } from '../requests/reviewed-request.ts'
import type { DeferredAuthorizer } from './deferred-authorizer.ts'

/** The shared cost limit of all expressions of one binding. */
export const expressionBudget = 10_000_000
/** The shared cost limit of all match conditions of one webhook or binding. */
export const matchConditionBudget = 2_500_000

/** A compiled expression of a webhook or policy. An expression that does not compile fails when it is evaluated. */
export interface Condition {
  readonly expression: string
  readonly program?: CelExpression | undefined
  readonly error?: string | undefined
}

/** The variables of expressions. */
export interface ExpressionInput {
  readonly request: ReviewedRequest
  readonly facts: RequestFacts
  readonly objects: ReviewedObjects
  readonly namespaceObject: object | null
  /** Undefined when expressions have no parameters; null when the parameters do not exist. */
  readonly params?: object | null | undefined
  /** Undefined when expressions may not use the authorizer. */
  readonly authorizer?: DeferredAuthorizer | undefined
  /** The variables of a policy by name. */
  readonly variables?: ReadonlyMap<string, Condition> | undefined
}

/** The value of an expression, or its error. */
export type Evaluated = { readonly value: CelValue; readonly error?: never } | { readonly error: string }

/** The expressions exceeded their shared cost limit; no further expression is evaluated. */
export class OutOfBudgetError extends CaughtError {
  override readonly name = 'OutOfBudgetError'

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

/** Compiles an expression. A compile error becomes part of the result. */
export function compileCondition(expression: string, environment: CelEnvironment): Condition {
  try {
    return { expression, program: environment.compile(expression) }
  } catch (error) {
    if (error instanceof CelCompileError) return { expression, error: `compilation failed: ${error.message}` }
    if (error instanceof CelPlanError) return { expression, error: `program instantiation failed: ${error.message}` }
    throw error
  }
}

/**
 * Evaluates expressions in order (admission/plugin/cel/condition.go). The result of an absent expression is undefined. Variables of
 * the policy are evaluated on first use, once for all expressions. Also returns the remaining budget. Throws
 * {@link OutOfBudgetError} when the budget is exhausted.
 */
export async function evaluateConditions(
  conditions: readonly (Condition | undefined)[],
  input: ExpressionInput,
  budget: number,
): Promise<{ readonly results: readonly (Evaluated | undefined)[]; readonly remaining: number }> {
  const scope = new Scope(input)
  let remaining = budget
  const results: (Evaluated | undefined)[] = []
  for (const condition of conditions) {
    const { result, cost } = condition ? await scope.evaluate(condition) : { result: undefined, cost: 0 }
    remaining -= cost
    if (remaining < 0) throw new OutOfBudgetError()
    results.push(result)
  }
  return { results, remaining }
}

/** The variables during one evaluation. */
class Scope {
  readonly #vars: Record<string, unknown>
  readonly #authorizer: DeferredAuthorizer | undefined
  /** The cost of variables since the last evaluation. */
  #variableCost = 0
  readonly #meter = new CostMeter()

  constructor({ request, facts, objects, namespaceObject, params, authorizer, variables }: ExpressionInput) {
    this.#authorizer = authorizer
    this.#vars = {
      ...objects,
      request: facts,
      namespaceObject,
      ...(params === undefined ? {} : { params }),
      ...(authorizer ? authorizerVariables(request, authorizer) : {}),
      ...(variables ? { variables: this.#lazy(variables) } : {}),
    }
  }

  async evaluate({ expression, program, error }: Condition): Promise<{ result: Evaluated; cost: number }> {
    if (!program) return { result: { error: `compilation error: ${error}` }, cost: 0 }
    for (;;) {
      const result = this.#run(program)
      if (this.#authorizer?.isPending) {
        await this.#authorizer.settle()
        continue
      }
      const cost = this.#meter.cost + this.#variableCost
      this.#variableCost = 0
      if (result.error === undefined) return { result, cost }
      return { result: { error: `expression '${expression}' resulted in error: ${result.error}` }, cost }
    }
  }

  #run(program: CelExpression): Evaluated {
    try {
      return { value: program.evaluate(this.#vars, this.#meter) }
    } catch (error) {
      if (error instanceof CelError) return { error: error.message }
      throw error
    }
  }

  /** An object whose properties are evaluated on first access and cached. */
  #lazy(variables: ReadonlyMap<string, Condition>): object {
    const lazy = {}
    for (const [name, condition] of variables) {
      let known: Evaluated | undefined
      Object.defineProperty(lazy, name, {
        enumerable: true,
        get: () => {
          const result = known ?? this.#variable(name, condition)
          // The result is final unless an authorization check is pending.
          if (!this.#authorizer?.isPending) known = result
          if (result.error !== undefined) throw new CelError(result.error)
          return result.value
        },
      })
    }
    return lazy
  }

  #variable(name: string, { program, error }: Condition): Evaluated {
    const what = `composited variable ${goQuote(name)} fails to`
    if (!program) return { error: `${what} compile: ${error}` }
    const meter = new CostMeter()
    try {
      return { value: program.evaluate(this.#vars, meter) }
    } catch (failure) {
      if (failure instanceof CelError) return { error: `${what} evaluate: ${failure.message}` }
      throw failure
    } finally {
      if (!this.#authorizer?.isPending) this.#variableCost += meter.cost
    }
  }
}

function authorizerVariables(request: ReviewedRequest, authorizer: DeferredAuthorizer): Record<string, unknown> {
  const { resource, subresource, name } = request.attributes
  const value = new CelAuthorizerValue(authorizer)
  const check = { group: resource.kind.group, resource: resource.kind.plural, subresource, name }
  return {
    authorizer: value,
    'authorizer.requestResource': new CelResourceCheck(value, { ...check, namespace: request.namespace }),
  }
}
