import { CelError } from '../values/cel-error.ts'
import { CelType } from '../values/cel-type.ts'
import { CelList, CelMap } from '../values/collections.ts'
import { celCompare } from '../values/equality.ts'
import { CelOptional, type CelValue } from '../values/values.ts'

/**
 * Orders two operands of an ordering operator. If the type of the left operand has no order, the error names the
 * operator.
 */
export function compare(fn: string, a: CelValue, b: CelValue): number {
  if (a === null || a instanceof CelList || a instanceof CelMap || a instanceof CelOptional || a instanceof CelType) {
    throw new CelError(`no such overload: ${fn}`)
  }
  return celCompare(a, b)
}
