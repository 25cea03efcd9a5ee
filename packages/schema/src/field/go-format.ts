import { compareUtf8 } from '@kubewright/base'

/**
 * Text in the formats of Go's `fmt`, `strconv` and `encoding/json`, because the API server's error messages contain
 * values in these formats.
 */

const MAX_INT64_AS_FLOAT = 2 ** 63

/** Reports whether the API server decodes this JSON number to an int64 instead of a float64. */
export function isGoInteger(value: number): boolean {
  return Number.isInteger(value) && value > -MAX_INT64_AS_FLOAT && value < MAX_INT64_AS_FLOAT
}

/** Formats a float64 like `%v`: shortest digits, with an exponent below 1e-04 and from 1e+06 on (strconv's 'g'). */
export function goFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (value === Infinity) return '+Inf'
  if (value === -Infinity) return '-Inf'
  if (Object.is(value, -0)) return '-0'
  if (value === 0) return '0'
  const [mantissa, exponentText] = value.toExponential().split('e') as [string, string]
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return plainDecimal(mantissa, exponent)
  const digits = String(Math.abs(exponent)).padStart(2, '0')
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`
}

function plainDecimal(mantissa: string, exponent: number): string {
  const negative = mantissa.startsWith('-')
  const digits = mantissa.replace('-', '').replace('.', '')
  let text: string
  if (exponent < 0) text = `0.${'0'.repeat(-exponent - 1)}${digits}`
  else if (digits.length <= exponent + 1) text = digits + '0'.repeat(exponent + 1 - digits.length)
  else text = `${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`
  return negative ? `-${text}` : text
}

/** Formats a JSON number like `%v` of the decoded int64 or float64. */
export function goNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return value.toString()
  return isGoInteger(value) ? integerText(value) : goFloat(value)
}

function integerText(value: number): string {
  return Number.isSafeInteger(value) ? String(value === 0 ? 0 : value) : BigInt(value).toString()
}

const HTML_UNSAFE = /[<>&\u2028\u2029]/g

/** Formats a value like `encoding/json`: keys sorted by bytes; `<`, `>` and `&` escaped; floats in its notation. */
export function goJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return jsonString(value)
    case 'number':
      return jsonNumber(value)
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'object':
      break
    default:
      return 'null'
  }
  if (value === null) return 'null'
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`
  const entries = value as Readonly<Record<string, unknown>>
  const parts: string[] = []
  for (const key of Object.keys(entries).sort(compareUtf8)) {
    if (entries[key] !== undefined) parts.push(`${jsonString(key)}:${goJson(entries[key])}`)
  }
  return `{${parts.join(',')}}`
}

function jsonString(text: string): string {
  return JSON.stringify(text).replace(HTML_UNSAFE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function jsonNumber(value: number): string {
  if (isGoInteger(value)) return integerText(value)
  // encoding/json follows ES6 with thresholds 1e-6 and 1e21, so JavaScript's own text is the same.
  return String(value)
}

/** Formats decoded JSON like `%v`: `map[a:1 b:[x y]]`, `<nil>`, strings without quotes. */
export function goValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'bigint':
      return goNumber(value)
    case 'boolean':
      return String(value)
    case 'object':
      break
    default:
      return '<nil>'
  }
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goValue).join(' ')}]`
  const entries = value as Readonly<Record<string, unknown>>
  const keys = Object.keys(entries).sort(compareUtf8)
  return `map[${keys.map((key) => `${key}:${goValue(entries[key])}`).join(' ')}]`
}
