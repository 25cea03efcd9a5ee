/** Orders two texts by code unit, or two numbers. For ASCII text, this is Go's byte order. */
export function compareValues<T extends string | number | bigint>(a: T, b: T): -1 | 0 | 1 {
  return a < b ? -1 : a > b ? 1 : 0
}
