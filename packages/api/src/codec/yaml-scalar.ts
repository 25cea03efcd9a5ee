import { isCalendarDate } from '@kubewright/base'

/** The value of a plain YAML scalar in Kubernetes' YAML reader. */
export type PlainScalar = null | boolean | number | bigint | string

const nulls = new Set(['', '~', 'null', 'Null', 'NULL'])
const trues = new Set(['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'])
const falses = new Set(['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'])
const specials: ReadonlyMap<string, number> = new Map([
  ...['.nan', '.NaN', '.NAN'].map((text) => [text, Number.NaN] as const),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((text) => [text, Number.POSITIVE_INFINITY] as const),
  ...['-.inf', '-.Inf', '-.INF'].map((text) => [text, Number.NEGATIVE_INFINITY] as const),
])
const integer = /^([+-]?)(0[bB][01]+|0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/
const float = /^[+-]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][+-]?[0-9]+)?$/
const timestamp =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt ][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?$/
const base60 = /^[+-]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/

/**
 * Resolves a plain scalar as go-yaml v2 does, which is neither YAML 1.1 nor 1.2: `yes`, `on` and `y` are booleans,
 * `0777` and `0o777` are octal, underscores in numbers are ignored, while dates and `1:30` stay strings.
 */
export function resolvePlain(text: string): PlainScalar {
  if (nulls.has(text)) return null
  if (trues.has(text)) return true
  if (falses.has(text)) return false
  const special = specials.get(text)
  if (special !== undefined) return special
  if (!/^[+\-.0-9]/.test(text)) return text
  if (text.startsWith('.')) return floatValue(text) ?? text
  const plain = text.replaceAll('_', '')
  const digits = integer.exec(plain)
  if (digits !== null) {
    const value = integerValue(digits[1]!, digits[2]!)
    if (value !== undefined) return value
  }
  return floatValue(plain) ?? text
}

// A number that does not fit a float64 stays a string.
function floatValue(text: string): number | undefined {
  const value = float.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

/** Whether a string must be quoted, because YAML would otherwise read it as another type. */
export function needsQuotes(text: string): boolean {
  return typeof resolvePlain(text) !== 'string' || text === '<<' || isTimestamp(text) || base60.test(text)
}

/** Whether go-yaml reads a text as a timestamp. */
export function isTimestamp(text: string): boolean {
  const parts = timestamp.exec(text)
  if (parts === null) return false
  return isCalendarDate(`${parts[1]}-${parts[2]!.padStart(2, '0')}-${parts[3]!.padStart(2, '0')}`)
}

// The value if it fits int64 or uint64, else undefined. A decimal number beyond that is a float; other notations are
// strings.
function integerValue(sign: string, digits: string): number | bigint | undefined {
  // A uint64 has at most 64 digits besides leading zeros; converting many more to a bigint takes quadratic time.
  if (digits.replace(/^0[box]?0*/i, '').length > 64) return undefined
  const octal = /^0[0-7]/.test(digits)
  const magnitude = BigInt(octal ? `0o${digits.slice(1)}` : digits)
  const value = sign === '-' ? -magnitude : magnitude
  if (value >= -(2n ** 63n) && value < 2n ** 63n) {
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }
  return value > 0n && value < 2n ** 64n ? Number(value) : undefined
}
