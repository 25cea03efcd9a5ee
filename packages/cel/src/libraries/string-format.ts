// "...".format([...]) with the rules of cel-go's ext/formatting.go. Kubernetes uses the locale en-US: fixed-point
// numbers have commas between thousands, scientific ones a superscript exponent.
import { compareUtf8, goQuote } from '@kubewright/base'
import { toDouble, toText } from '../standard/conversions.ts'
import { CelCostError, CelError, checkTextLength } from '../values/cel-error.ts'
import { CelType } from '../values/cel-type.ts'
import { CelList, CelMap } from '../values/collections.ts'
import { CelBytes, CelDouble, CelDuration, CelTimestamp, CelUint, type CelValue, typeOf } from '../values/values.ts'
import { formatExponential, formatFixed } from './format-number.ts'

/** A clause after its percent sign: the optional precision and the letter. `end` is the offset after it. */
export type FormatClause = { readonly precision: number | undefined; readonly letter: string; readonly end: number }

const DEFAULT_PRECISION = 6

/** The error of each clause for a value of the wrong type. */
export const CLAUSE_ERRORS: Readonly<Record<string, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ',
  d: 'decimal clause can only be used on integers, was given ',
  f: 'fixed-point clause can only be used on doubles, was given ',
  e: 'scientific clause can only be used on doubles, was given ',
  b: 'only integers and bools can be formatted as binary, was given ',
  x: 'only integers, byte buffers, and strings can be formatted as hex, was given ',
  X: 'only integers, byte buffers, and strings can be formatted as hex, was given ',
  o: 'octal clause can only be used on integers, was given ',
}

/** Replaces the clauses of a format by the arguments, in order. Throws a CelError with cel-go's text. */
export function formatString(format: string, args: CelList): string {
  return interpolate(format, args.size, (index, clause) => formatClause(clause, args.at(index)))
}

/**
 * Replaces each clause of a format by the result of `substitute`. Errors of `substitute` and of the format itself are
 * thrown with cel-go's texts.
 */
export function interpolate(
  format: string,
  argCount: number,
  substitute: (index: number, clause: FormatClause) => string,
): string {
  let out = ''
  let position = 0
  for (let index = 0; ; ) {
    const percent = format.indexOf('%', position)
    if (percent < 0) return out + format.slice(position)
    out += format.slice(position, percent)
    if (format[percent + 1] === '%') {
      out += '%'
      position = percent + 2
      continue
    }
    if (index >= argCount) throw new CelError(`index ${index} out of range`)
    if (percent + 1 >= format.length) throw new CelError('unexpected end of string')
    const clause = parseClause(format, percent + 1)
    try {
      out += substitute(index++, clause)
      checkTextLength(out.length)
    } catch (error) {
      if (!(error instanceof CelError) || error instanceof CelCostError) throw error
      throw new CelError(`error during formatting: ${error.message}`)
    }
    position = clause.end
  }
}

function parseClause(format: string, start: number): FormatClause {
  const context = 'could not parse formatting clause'
  let position = start
  let precision: number | undefined
  if (format[position] === '.') {
    const digits = /^[0-9]*/.exec(format.slice(position + 1))?.[0] ?? ''
    position += 1 + digits.length
    const precisionContext = `${context}: error while parsing precision`
    if (position >= format.length) throw new CelError(`${precisionContext}: could not find end of precision specifier`)
    if (digits === '' || BigInt(digits) >= 2n ** 63n) {
      const reason = digits === '' ? 'invalid syntax' : 'value out of range'
      throw new CelError(
        `${precisionContext}: error while converting precision to integer: strconv.Atoi: parsing "${digits}": ${reason}`,
      )
    }
    precision = Number(digits)
  }
  const letter = format.charAt(position)
  if (!(letter in CLAUSE_ERRORS)) throw new CelError(`${context}: unrecognized formatting clause "${letter}"`)
  return { precision, letter, end: position + 1 }
}

function formatClause({ letter, precision }: FormatClause, value: CelValue): string {
  switch (letter) {
    case 's':
      return formatText(value)
    case 'd':
      return integerOf(value, letter).toString()
    case 'f':
      return formatFixed(doubleOf(value, letter), precision ?? DEFAULT_PRECISION)
    case 'e':
      // cel-go passes the precision of this clause as a width, which has no effect.
      return formatExponential(doubleOf(value, letter), DEFAULT_PRECISION)
    case 'b':
      return typeof value === 'boolean' ? (value ? '1' : '0') : integerOf(value, letter).toString(2)
    case 'o':
      return integerOf(value, letter).toString(8)
    default: {
      const hex = hexOf(value, letter)
      return letter === 'X' ? hex.toUpperCase() : hex
    }
  }
}

function clauseError(letter: string, value: CelValue): CelError {
  return new CelError(`${CLAUSE_ERRORS[letter]}${typeOf(value).name}`)
}

function integerOf(value: CelValue, letter: string): bigint {
  if (typeof value === 'number' || typeof value === 'bigint') return BigInt(value)
  if (value instanceof CelUint) return value.value
  throw clauseError(letter, value)
}

function doubleOf(value: CelValue, letter: string): number {
  const isName = value === 'NaN' || value === 'Infinity' || value === '-Infinity'
  const double = isName ? toDouble(value) : value
  if (double instanceof CelDouble) return double.value
  throw clauseError(letter, value)
}

function hexOf(value: CelValue, letter: string): string {
  if (typeof value === 'string') return bytesToHex(new TextEncoder().encode(value))
  if (value instanceof CelBytes) return bytesToHex(value.value)
  return integerOf(value, letter).toString(16)
}

function bytesToHex(bytes: Uint8Array): string {
  let out = ''
  for (const byte of bytes) out += byte.toString(16).padStart(2, '0')
  return out
}

/** Formats the %s clause: like `string(value)`, but also supports lists, maps and types. */
function formatText(value: CelValue): string {
  if (value === null) return 'null'
  if (value instanceof CelList) return formatList(value)
  if (value instanceof CelMap) return formatMap(value)
  if (value instanceof CelType) return value.name
  if (isPlain(value)) return toText(value) as string
  throw clauseError('s', value)
}

function isPlain(value: CelValue): boolean {
  return (
    typeof value !== 'object' ||
    value instanceof CelDouble ||
    value instanceof CelUint ||
    value instanceof CelBytes ||
    value instanceof CelTimestamp ||
    value instanceof CelDuration
  )
}

function formatList(list: CelList): string {
  return `[${list.toArray().map(formatNested).join(', ')}]`
}

function formatMap(map: CelMap): string {
  const entries: [string, string][] = []
  for (const key of map.keys()) {
    const isKey = typeof key !== 'object' || key instanceof CelUint
    if (!isKey) throw new CelError(`no formatting function for map key of type ${typeOf(key).name}`)
    entries.push([formatNested(key), formatNested(map.get(key) ?? null)])
  }
  entries.sort(([a], [b]) => compareUtf8(a, b))
  return `{${entries.map(([key, value]) => `${key}:${value}`).join(', ')}}`
}

/** Formats a value inside a list or map as a CEL literal. */
function formatNested(value: CelValue): string {
  if (typeof value === 'string') return goQuote(value)
  if (value instanceof CelBytes) return `b${goQuote(toText(value) as string)}`
  if (value instanceof CelTimestamp) return `timestamp(${goQuote(toText(value) as string)})`
  if (value instanceof CelDuration) return `duration(${goQuote(toText(value) as string)})`
  if (value instanceof CelDouble) return formatNestedDouble(value.value)
  if (isPlain(value) || value === null || value instanceof CelType) return formatText(value)
  if (value instanceof CelList) return formatList(value)
  if (value instanceof CelMap) return formatMap(value)
  throw new CelError(`no formatting function for ${typeOf(value).name}`)
}

function formatNestedDouble(value: number): string {
  if (Number.isNaN(value)) return '"NaN"'
  if (!Number.isFinite(value)) return value > 0 ? '"+Inf"' : '"-Inf"'
  return formatFixed(value, DEFAULT_PRECISION, false)
}
