// The list functions ask only whether two values compare one way; an error there means that they do not.
import { celCompare, celEquals } from '../equality.ts'
import type { CelValue } from '../values.ts'

/** The order of two values; those without one, such as NaN, tie. */
export function compareOrTie(a: CelValue, b: CelValue): number {
  try {
    return celCompare(a, b)
  } catch {
    return 0
  }
}

/** Whether two values are equal; those that cannot be compared are not. */
export function equalsOrNot(a: CelValue, b: CelValue): boolean {
  try {
    return celEquals(a, b)
  } catch {
    return false
  }
}
