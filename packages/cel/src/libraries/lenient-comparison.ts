// Comparisons for list functions, which treat an error as a negative result.
import { celCompare, celEquals } from '../values/equality.ts'
import type { CelValue } from '../values/values.ts'

/** Orders two values. Values without an order, such as NaN, are equal. */
export function compareOrTie(a: CelValue, b: CelValue): number {
  try {
    return celCompare(a, b)
  } catch {
    return 0
  }
}

/** Reports whether two values are equal. Values that cannot be compared are unequal. */
export function equalsOrNot(a: CelValue, b: CelValue): boolean {
  try {
    return celEquals(a, b)
  } catch {
    return false
  }
}
