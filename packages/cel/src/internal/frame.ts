import { CelCostError, CelError } from '../cel-error.ts'
import type { CelValue } from '../values.ts'

/** What a local variable holds; an accumulator may hold the error that `all` or `exists` has yet to absorb. */
export type Local = CelValue | CelError

/** Shared by the evaluations that have no local variables; nothing writes to it. */
const NO_LOCALS: Local[] = []

/** The state of one evaluation. */
export class Frame {
  readonly vars: Readonly<Record<string, unknown>>
  readonly locals: Local[]
  readonly limit: number
  cost = 0

  constructor(vars: Readonly<Record<string, unknown>>, limit: number, slots: number) {
    this.vars = vars
    this.limit = limit
    this.locals = slots === 0 ? NO_LOCALS : []
  }

  /** Adds to the cost and stops the evaluation once it is too high. */
  charge(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new CelCostError()
  }
}

/** A compiled expression. */
export type Run = (frame: Frame) => CelValue

/**
 * A compiled node. `cost` is what its evaluation costs whatever the data; it is charged by whoever decides that the node is evaluated
 * at all (the root, a branch, a loop), in one addition for a whole straight-line piece. Costs that depend on data are charged by `run`.
 */
export interface Plan {
  readonly run: Run
  readonly cost: number
  /** The value, if the node is constant; its cost is then 0. */
  readonly constant?: CelValue
  /**
   * Set on variables, selections and what is built on them: the part of `cost` for reading an attribute as such, which is not
   * counted where the attribute is a branch of `?:` or an index.
   */
  readonly attributeCost?: number
}

/** The plan of a constant. */
export function constantPlan(value: CelValue): Plan {
  return { run: () => value, cost: 0, constant: value }
}

/** Whether an operator may absorb what was thrown. */
export function isAbsorbable(e: unknown): e is CelError {
  return e instanceof CelError && !(e instanceof CelCostError)
}
