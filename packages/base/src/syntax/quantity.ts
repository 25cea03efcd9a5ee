import { defineBudget } from '../budget.ts'
// Kubernetes' fixed-point numbers with unit suffixes: "100m", "1.5Gi", "12e6".
// Behaviour as in apimachinery/pkg/api/resource, including its accidents: which spellings are kept as written, that "-"
// is zero, and that a suffix beyond E or Ei is omitted from the output. Objects pass through the API server in that
// form, so any deviation would appear as a difference.

import { compare, digitCount, fitsInt64, MAX_INT64, pow10, scaleDecimal, scaleInt64 } from './quantity-arithmetic.ts'

/** The notation in which a quantity prints its magnitude: `12e6`, `12Mi` or `12M`. */
export type QuantityFormat = 'DecimalExponent' | 'BinarySI' | 'DecimalSI'

const FORMAT_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
const NUMERIC_WRONG = 'unable to parse numeric part of quantity'
const SUFFIX_WRONG = "unable to parse quantity's suffix"

const NANO = -9

const DECIMAL_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
])
/** Maps a suffix to a power of two. */
const BINARY_SUFFIXES: ReadonlyMap<string, number> = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
])
const DECIMAL_NAMES: ReadonlyMap<number, string> = new Map([...DECIMAL_SUFFIXES].map(([name, exp]) => [exp, name]))
const BINARY_NAMES: ReadonlyMap<number, string> = new Map([...BINARY_SUFFIXES].map(([name, exp]) => [exp, name]))

/**
 * Longer texts are invalid. Kubernetes has no limit, but arithmetic with n digits takes n² steps, and a request can contain millions of them.
 */
const MAX_LENGTH = defineBudget(1000, {
  group: 'server',
  what: 'characters of a quantity',
  answer: 'the quantity is invalid',
  kubernetes: 'no limit',
})

/**
 * Groups: sign, integer digits, fraction digits (undefined without a decimal point), suffix. The suffix never starts with a digit: two ways
 * to divide a run of digits would make a failing match quadratic.
 */
const SPLIT = /^([+-]?)([0-9]*)(?:\.([0-9]*))?((?:[eEinumkKMGTP]+[-+]?|[-+])[0-9]*|)$/

/**
 * An immutable, exact decimal number with an output format.
 *
 * The value is `unscaled * 10^exponent`. `isDecimal` means that Kubernetes would store the value as an
 * arbitrary-precision decimal instead of a scaled int64. As in Kubernetes, `asInt64()` and `isInteger()` depend on it.
 */
export class Quantity {
  readonly format: QuantityFormat
  readonly #unscaled: bigint
  readonly #exponent: number
  readonly #isDecimal: boolean
  /** The printed form, computed on first use. The parser sets it for spellings that are kept as written. */
  #text: string | undefined

  constructor(
    unscaled: bigint,
    exponent: number,
    format: QuantityFormat,
    options: { readonly isDecimal?: boolean | undefined; readonly text?: string | undefined } = {},
  ) {
    this.#unscaled = unscaled
    this.#exponent = exponent
    this.format = format
    this.#isDecimal = options.isDecimal ?? !fitsInt64(unscaled)
    this.#text = options.text
  }

  /** Parses a quantity. Throws a SyntaxError with the message of Kubernetes. */
  static parse(text: string): Quantity {
    const result = parse(text)
    if (typeof result === 'string') throw new SyntaxError(result)
    return result
  }

  /** Like `parse`, but returns undefined instead of throwing. */
  static tryParse(text: string): Quantity | undefined {
    const result = parse(text)
    return typeof result === 'string' ? undefined : result
  }

  /** Reads a quantity from a JSON value: a string (surrounding blanks are ignored), a number, or null for zero. */
  static fromJSON(value: string | number | bigint | null): Quantity {
    return value === null ? new Quantity(0n, 0, 'DecimalSI') : Quantity.parse(String(value).trim())
  }

  /** Creates a quantity from a whole number. */
  static of(value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), 0, format)
  }

  /** Creates a quantity of `value` thousandths. */
  static ofMilli(value: bigint | number, format: QuantityFormat = 'DecimalSI'): Quantity {
    return new Quantity(BigInt(value), -3, format)
  }

  get sign(): -1 | 0 | 1 {
    return this.#unscaled === 0n ? 0 : this.#unscaled < 0n ? -1 : 1
  }

  isZero(): boolean {
    return this.#unscaled === 0n
  }

  /** Reports whether `asInt64()` returns a value. */
  isInteger(): boolean {
    return this.asInt64() !== undefined
  }

  /**
   * Returns the value as an int64, if it is stored as an int64 and is a whole number. "9223372036854775807" is stored
   * as a decimal, so the result is undefined.
   */
  asInt64(): bigint | undefined {
    if (this.#isDecimal || this.#exponent < 0) return undefined
    if (this.#exponent === 0 || this.#unscaled === 0n) return this.#unscaled
    if (this.#exponent > 18) return undefined
    const value = this.#unscaled * 10n ** BigInt(this.#exponent)
    return fitsInt64(value) ? value : undefined
  }

  /**
   * Returns an approximation, computed by one multiplication and therefore not always correctly rounded. Infinite if
   * out of range.
   */
  asApproximateFloat64(): number {
    const base = Number(this.#unscaled)
    return this.#exponent === 0 ? base : base * pow10(this.#exponent)
  }

  /** Returns the value rounded up to a whole number, as an int64. */
  value(): bigint {
    return this.scaledValue(0)
  }

  /** Returns the value in thousandths, rounded up, as an int64. */
  milliValue(): bigint {
    return this.scaledValue(-3)
  }

  /**
   * Returns the value in units of `10^scale`, rounded up, as an int64. On overflow it wraps around or becomes 0, as in
   * Kubernetes.
   */
  scaledValue(scale: number): bigint {
    const shift = this.#exponent - scale
    return this.#isDecimal ? scaleDecimal(this.#unscaled, shift) : scaleInt64(this.#unscaled, shift)
  }

  /** Rounds to a multiple of `10^scale`, away from zero. */
  roundUp(scale: number): Quantity {
    const shift = scale - this.#exponent
    if (shift <= 0) return this
    const divisor = 10n ** BigInt(shift)
    const quotient = this.#unscaled / divisor
    const isExact = quotient * divisor === this.#unscaled
    const rounded = isExact ? quotient : quotient + BigInt(this.sign)
    return new Quantity(rounded, scale, this.format, { isDecimal: this.#isDecimal })
  }

  /** Compares by value: negative, zero or positive if this is less than, equal to or greater than `other`. */
  cmp(other: Quantity): -1 | 0 | 1 {
    return compare(this.#unscaled, this.#exponent, other.#unscaled, other.#exponent)
  }

  /** Reports whether both have the same value. Formats are not compared. */
  equal(other: Quantity): boolean {
    return this.cmp(other) === 0
  }

  /** Returns the sum, in the format of this quantity or, if this is zero, of `other`. */
  add(other: Quantity): Quantity {
    return this.#plus(other, other.#unscaled)
  }

  /** Returns the difference, in the format of this quantity or, if this is zero, of `other`. */
  sub(other: Quantity): Quantity {
    return this.#plus(other, -other.#unscaled)
  }

  /** Returns the product with a whole number. */
  mul(factor: bigint): Quantity {
    return new Quantity(
      this.#unscaled * factor,
      this.#exponent,
      this.format,
      this.#isDecimal ? { isDecimal: true } : {},
    )
  }

  neg(): Quantity {
    return new Quantity(-this.#unscaled, this.#exponent, this.format, { isDecimal: this.#isDecimal })
  }

  /** Formats the quantity canonically: no fraction digits, the largest suffix without loss of precision. */
  toString(): string {
    return (this.#text ??= print(this.#unscaled, this.#exponent, this.format))
  }

  toJSON(): string {
    return this.toString()
  }

  #plus(other: Quantity, addend: bigint): Quantity {
    const format = this.isZero() ? other.format : this.format
    const isDecimal = this.#isDecimal || other.#isDecimal
    if (!isDecimal && addend === 0n) return new Quantity(this.#unscaled, this.#exponent, format)
    if (!isDecimal && this.isZero()) return new Quantity(addend, other.#exponent, format)
    const exponent = Math.min(this.#exponent, other.#exponent)
    const left = this.#unscaled * 10n ** BigInt(this.#exponent - exponent)
    const right = addend * 10n ** BigInt(other.#exponent - exponent)
    const sum = left + right
    // If an operand exceeds the int64 range while the scales are aligned, the sum becomes a decimal, even if the sum
    // fits.
    const overflowed = !fitsInt64(left) || !fitsInt64(right) || !fitsInt64(sum)
    return new Quantity(sum, exponent, format, { isDecimal: isDecimal || overflowed })
  }
}

/**
 * Parses a quantity: a text such as `500m` or `1Gi`, or a plain number, as schemas of quantities allow. Throws a
 * SyntaxError with the message of Kubernetes.
 */
export function parseQuantity(value: string | number): Quantity {
  return Quantity.parse(String(value))
}

type Suffix = { readonly format: QuantityFormat; readonly base: 2 | 10; readonly exponent: number }

/** Returns the quantity, or the error message. */
function parse(text: string): Quantity | string {
  if (text === '' || text.length > MAX_LENGTH) return FORMAT_WRONG
  if (text === '0') return new Quantity(0n, 0, 'DecimalSI', { text })
  const parts = SPLIT.exec(text)
  if (parts === null) return FORMAT_WRONG
  const negative = parts[1] === '-'
  const integer = parts[2] ?? ''
  const fraction = parts[3] ?? ''
  const suffix = interpretSuffix(parts[4] ?? '')
  if (suffix === undefined) return SUFFIX_WRONG
  const digits = integer.replace(/^0+/, '') || '0'
  const small = parseSmall(text, negative, digits, fraction, suffix)
  if (small !== undefined) return small
  // A lone decimal point is valid in the int64 form only.
  if (integer === '' && fraction === '') return NUMERIC_WRONG
  return parseLarge(negative, BigInt(digits + fraction), fraction.length, suffix)
}

/** Parses the int64 form, for numbers with few digits. Returns undefined if the decimal form is needed. */
function parseSmall(
  text: string,
  negative: boolean,
  digits: string,
  fraction: string,
  suffix: Suffix,
): Quantity | undefined {
  const isBinary = suffix.format === 'BinarySI'
  if (isBinary) {
    if (fraction !== '' || 14 - digits.length - Math.trunc((suffix.exponent * 3) / 10) < 0) return undefined
  } else if (18 - digits.length - fraction.length < 0) {
    return undefined
  }
  const exponent = isBinary ? 0 : suffix.exponent - fraction.length
  if (exponent < NANO) return undefined
  const shifted = digits + fraction
  const magnitude = BigInt(shifted)
  const value = isBinary ? magnitude << BigInt(suffix.exponent) : magnitude
  if (!fitsInt64(value)) return undefined
  // As in Kubernetes, this is a heuristic: spellings that look canonical are kept.
  const looksCanonical = isBinary
    ? (magnitude & 7n) !== 0n
    : exponent % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0')
  const kept = looksCanonical ? text : undefined
  return new Quantity(negative ? -value : value, exponent, suffix.format, { isDecimal: false, text: kept })
}

function parseLarge(negative: boolean, magnitude: bigint, fractionDigits: number, suffix: Suffix): Quantity {
  let unscaled = magnitude
  let exponent = -fractionDigits
  if (suffix.base === 10) exponent += suffix.exponent
  else unscaled <<= BigInt(suffix.exponent)
  if (unscaled !== 0n) [unscaled, exponent] = roundUpToNano(unscaled, exponent)
  let format = suffix.format
  if (format === 'BinarySI') {
    if (compare(unscaled, exponent, MAX_INT64, 0) > 0) [unscaled, exponent] = [MAX_INT64, 0]
    if (unscaled > 0n && compare(unscaled, exponent, 1n, 0) < 0) format = 'DecimalSI'
  }
  return new Quantity(negative ? -unscaled : unscaled, exponent, format, { isDecimal: true })
}

function interpretSuffix(suffix: string): Suffix | undefined {
  const decimal = DECIMAL_SUFFIXES.get(suffix)
  if (decimal !== undefined) return { format: 'DecimalSI', base: 10, exponent: decimal }
  const binary = BINARY_SUFFIXES.get(suffix)
  if (binary !== undefined) return { format: 'BinarySI', base: 2, exponent: binary }
  if (!/^[eE][-+]?[0-9]+$/.test(suffix)) return undefined
  const exponent = BigInt(suffix.replace(/^.\+?/, ''))
  if (!fitsInt64(exponent)) return undefined
  // Exponents are 32 bits wide and wrap around.
  return { format: 'DecimalExponent', base: 10, exponent: Number(BigInt.asIntN(32, exponent)) }
}

/**
 * Rounds up to nano scale. Larger scales are converted to nano too, which keeps the value, unless that would take
 * hundreds of digits.
 */
function roundUpToNano(magnitude: bigint, exponent: number): [bigint, number] {
  if (exponent >= NANO) {
    const up = exponent - NANO
    return up <= 400 ? [magnitude * 10n ** BigInt(up), NANO] : [magnitude, exponent]
  }
  const down = NANO - exponent
  if (down > digitCount(magnitude)) return [1n, NANO]
  const divisor = 10n ** BigInt(down)
  const quotient = magnitude / divisor
  return [quotient * divisor === magnitude ? quotient : quotient + 1n, NANO]
}

function print(unscaled: bigint, exponent: number, format: QuantityFormat): string {
  if (unscaled === 0n) return '0'
  if (format === 'BinarySI') {
    const magnitude = unscaled < 0n ? -unscaled : unscaled
    const whole = compare(magnitude, exponent, 1024n, 0) < 0 ? undefined : exactInteger(unscaled, exponent)
    if (whole !== undefined) return printBinary(whole)
  }
  let amount = unscaled
  let scale = exponent
  while (amount % 10n === 0n) {
    amount /= 10n
    scale++
  }
  for (; scale % 3 !== 0; scale--) amount *= 10n
  if (format === 'DecimalExponent') return scale === 0 ? `${amount}` : `${amount}e${scale}`
  return `${amount}${DECIMAL_NAMES.get(scale) ?? ''}`
}

function printBinary(value: bigint): string {
  let amount = value
  let power = 0
  while (amount % 1024n === 0n) {
    amount /= 1024n
    power += 10
  }
  return `${amount}${BINARY_NAMES.get(power) ?? ''}`
}

function exactInteger(unscaled: bigint, exponent: number): bigint | undefined {
  if (exponent >= 0) return unscaled * 10n ** BigInt(exponent)
  if (-exponent > digitCount(unscaled)) return undefined
  const divisor = 10n ** BigInt(-exponent)
  return unscaled % divisor === 0n ? unscaled / divisor : undefined
}
