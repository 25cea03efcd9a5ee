import { type CheckedExpr, check } from './check/checker.ts'
import { validateLiterals } from './check/literal-validation.ts'
import { estimateExpressionCost } from './cost/cost-estimator.ts'
import type { SizeEstimator } from './cost/declared-sizes.ts'
import type { CostEstimate } from './define/cost-estimate.ts'
import type { Declarations } from './define/declarations.ts'
import { Frame, type Plan, type Run } from './plan/frame.ts'
import { Planner } from './plan/planner.ts'
import { hasSelection } from './syntax/has-selection.ts'
import { parse } from './syntax/parser.ts'
import { CelCostError, CelError, CelPlanError } from './values/cel-error.ts'
import type { CelType } from './values/cel-type.ts'
import type { CelValue } from './values/values.ts'

/** The cost limit of one evaluation in kube-apiserver. */
export const PER_CALL_LIMIT = 1_000_000

/** Limits the cost of evaluations and reports the cost of the last one. Reusable. */
export class CostMeter {
  /** An evaluation that exceeds this cost fails with `operation cancelled: actual cost limit exceeded`. */
  limit: number
  /** The cost of the last evaluation with this meter, even if it failed. */
  cost = 0

  constructor(limit: number = PER_CALL_LIMIT) {
    this.limit = limit
  }
}

/** A compiled expression. Stateless: it can be evaluated any number of times, even from within an evaluation. */
export class CelExpression {
  readonly source: string
  /** The type of the result, as far as the checker can determine it. */
  readonly outputType: CelType
  readonly #env: Declarations
  readonly #checked: CheckedExpr
  readonly #run: Run
  readonly #cost: number
  readonly #slots: number

  /** Created by `CelEnvironment.compile()`. @internal */
  constructor(env: Declarations, checked: CheckedExpr) {
    this.source = checked.source
    this.outputType = checked.outputType
    this.#env = env
    this.#checked = checked
    const planner = new Planner(env, checked)
    const plan = planned(planner, checked)
    this.#run = plan.run
    this.#cost = plan.cost
    this.#slots = planner.slots
  }

  /** Evaluates the expression with the given variables (JSON data or CEL values). Throws a CelError. */
  evaluate(variables: Readonly<Record<string, unknown>>, meter?: CostMeter): CelValue {
    const frame = new Frame(variables, meter === undefined ? PER_CALL_LIMIT : meter.limit, this.#slots)
    frame.cost = this.#cost
    try {
      const value = this.#run(frame)
      if (frame.cost > frame.limit) throw new CelCostError()
      return value
    } catch (error) {
      // A text, a list or a nesting that is too large for the engine is too large for the cost limit, too.
      if (error instanceof RangeError) throw new CelCostError()
      throw error
    } finally {
      if (meter !== undefined) meter.cost = frame.cost
    }
  }

  /** Reports whether the expression refers to the variable. */
  uses(variable: string): boolean {
    return this.#checked.references.some((r) => r?.kind === 'ident' && r.name === variable)
  }

  /**
   * Reports whether the expression selects the field of the variable: `variable.field`, `variable.?field` or
   * `has(variable.field)`. An index such as `variable["field"]` does not count.
   */
  selects(variable: string, field: string): boolean {
    return hasSelection(this.#checked.expr, variable, field)
  }

  /**
   * Returns the bounds of the evaluation cost. Sizes of data come from `sizes`, by default from the schemas of the
   * variables.
   */
  estimateCost(sizes?: SizeEstimator): CostEstimate {
    return estimateExpressionCost(this.#env, this.#checked, sizes)
  }
}

function planned(planner: Planner, checked: CheckedExpr): Plan {
  try {
    return planner.plan(checked.expr)
  } catch (e) {
    throw e instanceof CelError ? new CelPlanError(e.message) : e
  }
}

/** Parses, checks and plans an expression. */
export function compileExpression(env: Declarations, source: string): CelExpression {
  const checked = check(parse(source, env.macros), env)
  validateLiterals(checked)
  return new CelExpression(env, checked)
}
