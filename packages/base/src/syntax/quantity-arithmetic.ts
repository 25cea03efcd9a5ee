import { compareValues } from '../compare-values.ts'
// Arithmetic on numbers of the form `unscaled * 10^exponent`, with the results of apimachinery/pkg/api/resource.

/** The largest int64. */
export const MAX_INT64: bigint = 2n ** 63n - 1n
const MIN_INT64 = -(2n ** 63n)

/** Compares signs, then magnitudes, and scales only numbers of the same magnitude, so that huge exponents are cheap. */
export function compare(a: bigint, aExponent: number, b: bigint, bExponent: number): -1 | 0 | 1 {
  if (aExponent === bExponent || a === 0n || b === 0n) return compareValues(a, b)
  if (a < 0n !== b < 0n) return a < 0n ? -1 : 1
  const difference = digitCount(a) + aExponent - (digitCount(b) + bExponent)
  if (difference !== 0) return difference > 0 === a > 0n ? 1 : -1
  const exponent = Math.min(aExponent, bExponent)
  return compareValues(a * 10n ** BigInt(aExponent - exponent), b * 10n ** BigInt(bExponent - exponent))
}

/** Multiplies an int64 by 10^shift, rounded away from zero, with the overflow behaviour of Kubernetes. */
export function scaleInt64(value: bigint, shift: number): bigint {
  if (shift < 0) {
    if (-shift > 19) return BigInt(compareValues(value, 0n))
    const divisor = 10n ** BigInt(-shift)
    const quotient = value / divisor
    return quotient * divisor === value ? quotient : quotient + (value < 0n ? -1n : 1n)
  }
  if (shift > 18) return 0n
  const scaled = value * 10n ** BigInt(shift)
  if (fitsInt64(scaled)) return scaled
  // Factors with a fast path in Kubernetes wrap around; the others give 0.
  return [1, 2, 3, 6, 9].includes(shift) && value !== MIN_INT64 ? BigInt.asIntN(64, scaled) : 0n
}

/** Multiplies an arbitrary-precision integer by 10^shift, with the rounding and overflow behaviour of Kubernetes. */
export function scaleDecimal(unscaled: bigint, shift: number): bigint {
  if (shift >= 0) {
    // 10^19 and larger saturate when Kubernetes converts them from a float.
    const factor = shift > 18 ? MIN_INT64 : 10n ** BigInt(shift)
    return BigInt.asIntN(64, shift === 0 ? unscaled : BigInt.asIntN(64, unscaled) * factor)
  }
  const divisor = 10n ** BigInt(-shift)
  if (unscaled < MAX_INT64 && -shift < 19) {
    // As in Kubernetes, adds one after truncating towards zero, even for negative numbers.
    const low = BigInt.asIntN(64, unscaled)
    return low % divisor === 0n ? low / divisor : low / divisor + 1n
  }
  const floor = unscaled >= 0n ? unscaled / divisor : -((-unscaled + divisor - 1n) / divisor)
  return BigInt.asIntN(64, floor * divisor === unscaled ? floor : floor + 1n)
}

/** Reports whether a value fits into an int64. */
export function fitsInt64(value: bigint): boolean {
  return value <= MAX_INT64 && value >= MIN_INT64
}

/** Returns the number of decimal digits, without the sign. */
export function digitCount(value: bigint): number {
  const text = value.toString()
  return value < 0n ? text.length - 1 : text.length
}

/** Go's math.Pow10 multiplies two table entries, so that large powers are not always the nearest float. */
export function pow10(exponent: number): number {
  if (exponent < -323) return 0
  if (exponent > 308) return Number.POSITIVE_INFINITY
  const rest = Math.abs(exponent) % 32
  const large = Number(`1e${exponent < 0 ? exponent + rest : exponent - rest}`)
  return exponent < 0 ? large / Number(`1e${rest}`) : large * Number(`1e${rest}`)
}
