// Doubles in fixed-point and scientific notation, formatted like Go for en-US: rounded exactly, ties to even.
// JavaScript's toFixed rounds ties up and does not support values from 1e21 on.

/** Formats as `1,234.500000`; without `grouped`, without commas. */
export function formatFixed(value: number, precision: number, grouped = true): string {
  const special = specialText(value)
  if (special !== undefined) return special
  const digits = roundedDigits(Math.abs(value), precision).padStart(precision + 1, '0')
  const whole = digits.slice(0, digits.length - precision)
  const fraction = precision === 0 ? '' : `.${digits.slice(digits.length - precision)}`
  return `${signOf(value)}${grouped ? whole.replace(/\B(?=(?:[0-9]{3})+$)/g, ',') : whole}${fraction}`
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹'

/**
 * Formats as `1.234500×10⁰³`. cel-go's own tests expect spaces around the sign; they use an older number library than
 * the API server.
 */
export function formatExponential(value: number, precision: number): string {
  const special = specialText(value)
  if (special !== undefined) return special
  const [mantissa, exponent] = scientific(Math.abs(value), precision)
  const power = String(Math.abs(exponent)).padStart(2, '0')
  const superscript = [...power].map((digit) => SUPERSCRIPTS.charAt(Number(digit))).join('')
  const fraction = precision === 0 ? '' : `.${mantissa.slice(1)}`
  return `${signOf(value)}${mantissa.charAt(0)}${fraction}×10${exponent < 0 ? '⁻' : ''}${superscript}`
}

function specialText(value: number): string | undefined {
  if (Number.isNaN(value)) return 'NaN'
  if (Number.isFinite(value)) return undefined
  return value > 0 ? '∞' : '-∞'
}

function signOf(value: number): string {
  return value < 0 || Object.is(value, -0) ? '-' : ''
}

/** Returns `precision + 1` significant digits and the exponent of the first one. */
function scientific(value: number, precision: number): [digits: string, exponent: number] {
  if (value === 0) return ['0'.repeat(precision + 1), 0]
  const exponent = Number(value.toExponential().split('e')[1])
  const digits = roundedDigits(value, precision - exponent)
  // Rounding may produce one more digit.
  return digits.length > precision + 1 ? [digits.slice(0, -1), exponent + 1] : [digits, exponent]
}

/** Returns the digits of `value * 10^precision`, rounded to a whole number from the exact value of the double. */
function roundedDigits(value: number, precision: number): string {
  const [mantissa, exponent] = decompose(value)
  let numerator = mantissa
  let denominator = 1n
  if (exponent >= 0) numerator <<= BigInt(exponent)
  else denominator <<= BigInt(-exponent)
  if (precision >= 0) numerator *= 10n ** BigInt(precision)
  else denominator *= 10n ** BigInt(-precision)
  const quotient = numerator / denominator
  const twice = (numerator - quotient * denominator) * 2n
  const roundsUp = twice > denominator || (twice === denominator && quotient % 2n === 1n)
  return String(roundsUp ? quotient + 1n : quotient)
}

/** Splits a double into a whole number and a power of two whose product is the value. */
function decompose(value: number): [mantissa: bigint, exponent: number] {
  const bits = new DataView(new ArrayBuffer(8))
  bits.setFloat64(0, value)
  const raw = bits.getBigUint64(0)
  const biased = Number((raw >> 52n) & 0x7ffn)
  const fraction = raw & 0xfffffffffffffn
  return biased === 0 ? [fraction, -1074] : [fraction | 0x10000000000000n, biased - 1075]
}
