// `Math.min(...values)` passes each value as an argument, and the stack overflows with some 100,000 of them.

/** The smallest value; Infinity without values. */
export function smallest(values: Iterable<number>): number {
  let found = Number.POSITIVE_INFINITY
  for (const value of values) if (value < found) found = value
  return found
}

/** The largest value; -Infinity without values. */
export function largest(values: Iterable<number>): number {
  let found = Number.NEGATIVE_INFINITY
  for (const value of values) if (value > found) found = value
  return found
}
