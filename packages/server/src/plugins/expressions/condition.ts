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

/** What all expressions of one binding or of one custom resource may cost together. */
export const expressionBudget = 10_000_000
/** What all match conditions of one webhook or binding may cost together. */
export const matchConditionBudget = 2_500_000

/** An expression of a webhook or policy, compiled once; one that does not compile fails when it is evaluated. */
export interface Condition {
  readonly expression: string
  readonly program?: CelExpression
  readonly error?: string
}

/** What expressions see. */
export interface ExpressionInput {
  readonly request: ReviewedRequest
  readonly facts: RequestFacts
  readonly objects: ReviewedObjects
  readonly namespaceObject: object | null
  /** Undefined when expressions do not see parameters, null when there are none. */
  readonly params?: object | null | undefined
  /** Undefined when expressions may not ask. */
  readonly authorizer?: DeferredAuthorizer | undefined
  /** The variables of a policy, by name. */
  readonly variables?: ReadonlyMap<string, Condition> | undefined
}

/** What an expression gave, or what went wrong. */
export type Evaluated = { readonly value: CelValue; readonly error?: never } | { readonly error: string }

/** The expressions cost too much together; nothing more is evaluated. */
export class OutOfBudgetError extends Error {
  override readonly name = 'OutOfBudgetError'

  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run')
  }
}

/** Compiles an expression. */
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
 * Evaluates expressions one after the other (admission/plugin/cel/condition.go); an absent one gives undefined. The policy's variables
 * are evaluated when they are first used, once for all expressions. Also gives what is left of the budget; throws
 * {@link OutOfBudgetError} when that does not do.
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

/** The variables of a run of expressions. */
class Scope {
  readonly #vars: Record<string, unknown>
  readonly #authorizer: DeferredAuthorizer | undefined
  /** What variables have cost since it was last asked. */
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

  /** An object whose properties are evaluated when they are read, and then stay. */
  #lazy(variables: ReadonlyMap<string, Condition>): object {
    const lazy = {}
    for (const [name, condition] of variables) {
      let known: Evaluated | undefined
      Object.defineProperty(lazy, name, {
        enumerable: true,
        get: () => {
          const result = known ?? this.#variable(name, condition)
          // What had to do without an answer is looked at again.
          if (!this.#authorizer?.isPending) known = result
          if (result.error !== undefined) throw new CelError(result.error)
          return result.value
        },
      })
    }
    return lazy
  }

  #variable(name: string, { program, error }: Condition): Evaluated {
    const what = `composited variable ${JSON.stringify(name)} fails to`
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
