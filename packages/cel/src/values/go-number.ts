/**
 * Formats a double like Go's `%g`: shortest digits, with an exponent of at least two digits if it is below -4 or at
 * least 6.
 */
export function formatG(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const { sign, digits, exponent } = shortest(value)
  if (exponent < -4 || exponent >= 6) {
    const mantissa = digits.length === 1 ? digits : `${digits[0]}.${digits.slice(1)}`
    const abs = Math.abs(exponent).toString().padStart(2, '0')
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${abs}`
  }
  return sign + plain(digits, exponent)
}

/** Formats a double like Go's `strconv.FormatFloat(v, 'f', -1, 64)`: shortest digits, no exponent. */
export function formatF(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const { sign, digits, exponent } = shortest(value)
  return sign + plain(digits, exponent)
}

function shortest(value: number): { sign: string; digits: string; exponent: number } {
  const [mantissa, exponent] = Math.abs(value).toExponential().split('e') as [string, string]
  return { sign: value < 0 ? '-' : '', digits: mantissa.replace('.', ''), exponent: Number(exponent) }
}

function plain(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${'0'.repeat(-exponent - 1)}${digits}`
  if (digits.length <= exponent + 1) return digits + '0'.repeat(exponent + 1 - digits.length)
  return `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`
}

/** There is one way only to divide a run of digits: with more, a text that does not match would take exponential time. */
const GO_FLOAT =
  /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)[pP][+-]?\d+)$/

/** Parses a double like Go's `strconv.ParseFloat`; `undefined` if the text is invalid. */
export function parseGoFloat(text: string): number | undefined {
  if (/^[+-]?(?:inf|infinity)$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  if (/^nan$/i.test(text)) return Number.NaN
  if (!GO_FLOAT.test(text)) return undefined
  const hex = /^([+-]?)0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/.exec(text)
  if (hex !== null) {
    const [, sign, whole, fraction, power] = hex as unknown as [string, string, string, string, string]
    const value = Number.parseInt(whole + fraction, 16) * 2 ** (Number(power) - 4 * fraction.length)
    return sign === '-' ? -value : value
  }
  const value = Number(text)
  return Number.isFinite(value) ? value : undefined
}
