import { CelCostError, CelError } from '../values/cel-error.ts'
import type { CelValue } from '../values/values.ts'

/** The content of a local variable. An accumulator may contain an error that `all` or `exists` may still absorb. */
export type Local = CelValue | CelError

/** Shared by evaluations without local variables. Never written to. */
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

  /** Adds to the cost. Throws a CelCostError once the limit is exceeded. */
  charge(cost: number): void {
    this.cost += cost
    if (this.cost > this.limit) throw new CelCostError()
  }
}

/** A compiled expression. */
export type Run = (frame: Frame) => CelValue

/**
 * A compiled node. `cost` is the part of its cost that does not depend on data. The code that decides whether the node
 * is evaluated at all (the root, a branch, a loop) charges it, in one addition for a straight-line sequence of nodes.
 * `run` charges the costs that depend on data.
 */
export interface Plan {
  readonly run: Run
  readonly cost: number
  /** The value, if the node is a constant. The cost of a constant is 0. */
  readonly constant?: CelValue | undefined
  /**
   * Set on variables, selections and expressions built on them: the part of `cost` for reading the attribute itself.
   * This part is not charged if the attribute is a branch of `?:` or an index.
   */
  readonly attributeCost?: number | undefined
}

/** Returns the plan of a constant. */
export function constantPlan(value: CelValue): Plan {
  return { run: () => value, cost: 0, constant: value }
}

/** Reports whether an operator may absorb a thrown value. */
export function isAbsorbable(e: unknown): e is CelError {
  return e instanceof CelError && !(e instanceof CelCostError)
}
