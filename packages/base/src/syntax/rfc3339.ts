// RFC 3339 times with the syntax and error texts of Go's time package. Its parser is more lenient than the RFC (a
// one-digit hour, a comma before the fraction), and its error texts appear in API errors.

import { goTimeQuote } from '../internal/go-time-quote.ts'

/** A point in time: whole seconds since 1970 UTC (rounded down) plus nanoseconds. */
export type Instant = { readonly seconds: number; readonly nanos: number }

/** An `Instant` and the UTC offset, in seconds, given in its text. */
export type ZonedInstant = Instant & { readonly offset: number }

const RFC3339_LAYOUT = '2006-01-02T15:04:05Z07:00'
const MICRO_LAYOUT = '2006-01-02T15:04:05.000000Z07:00'

/** Parses a `metav1.Time` or the argument of CEL's `timestamp()`. Throws a SyntaxError with Go's text. */
export function parseRFC3339(text: string): ZonedInstant {
  return new LayoutReader(RFC3339_LAYOUT, text).read(false)
}

/** Parses a `metav1.MicroTime`, which has exactly six fraction digits. Throws a SyntaxError with Go's text. */
export function parseMicroTime(text: string): ZonedInstant {
  return new LayoutReader(MICRO_LAYOUT, text).read(true)
}

/** Formats a time like `metav1.Time`: `2006-01-02T15:04:05Z`. Fractions of a second are dropped. */
export function formatRFC3339(time: Instant): string {
  return `${formatDateTime(time.seconds)}Z`
}

/** Like `formatRFC3339`, with as many fraction digits as necessary. */
export function formatRFC3339Nano(time: Instant): string {
  if (time.nanos === 0) return formatRFC3339(time)
  const fraction = String(time.nanos).padStart(9, '0').replace(/0+$/, '')
  return `${formatDateTime(time.seconds)}.${fraction}Z`
}

/** Formats a time like `metav1.MicroTime`: like `formatRFC3339`, with exactly six fraction digits. */
export function formatMicroTime(time: Instant): string {
  const fraction = String(Math.trunc(time.nanos / 1000)).padStart(6, '0')
  return `${formatDateTime(time.seconds)}.${fraction}Z`
}

/**
 * Returns a `metav1.Time` in the form in which it is printed. Equal to parsing and formatting it, but several times
 * faster for a text that already has this form, as nearly all have. Throws a SyntaxError with Go's text.
 */
export function canonicalRFC3339(text: string): string {
  return isPrinted(text, 20) ? text : formatRFC3339(parseRFC3339(text))
}

/** Like `canonicalRFC3339`, for a `metav1.MicroTime`. */
export function canonicalMicroTime(text: string): string {
  const printed = isPrinted(text, 27) && text[19] === '.' && digitsAt(text, 20, 26) >= 0
  return printed ? text : formatMicroTime(parseMicroTime(text))
}

/** Converts milliseconds since 1970 UTC to an instant. */
export function instantFromMillis(millis: number): Instant {
  const seconds = Math.floor(millis / 1000)
  return { seconds, nanos: Math.round((millis - seconds * 1000) * 1_000_000) }
}

/** Reports whether the text is an existing date in the form `2006-01-02`. */
export function isCalendarDate(text: string): boolean {
  return text.length === 10 && isDateAt(text, 0)
}

/** Reports whether an existing date in the form `2006-01-02` starts at the index. The text after it is ignored. */
export function isDateAt(text: string, index: number): boolean {
  if (text[index + 4] !== '-' || text[index + 7] !== '-') return false
  const year = digitsAt(text, index, index + 4)
  const month = digitsAt(text, index + 5, index + 7)
  const day = digitsAt(text, index + 8, index + 10)
  return year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month)
}

/** Returns the number between two indices, or -1 if one of the characters is not a digit. */
export function digitsAt(text: string, from: number, to: number): number {
  let value = 0
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (!(digit >= 0 && digit <= 9)) return -1
    value = value * 10 + digit
  }
  return value
}

/**
 * Reports whether the text has this length and is a valid time in UTC with two digits for each part. Ignores what is
 * between the seconds and the Z.
 */
function isPrinted(text: string, length: number): boolean {
  if (text.length !== length || text[length - 1] !== 'Z' || !isDateAt(text, 0)) return false
  if (text[10] !== 'T' || text[13] !== ':' || text[16] !== ':') return false
  return isUpTo(23, text, 11) && isUpTo(59, text, 14) && isUpTo(59, text, 17)
}

/** Reports whether there are two digits at the index that are at most the limit. */
function isUpTo(limit: number, text: string, index: number): boolean {
  const value = digitsAt(text, index, index + 2)
  return value >= 0 && value <= limit
}

/** Reads one text by one layout. Error messages quote the part of the text that has not been read. */
class LayoutReader {
  readonly #layout: string
  readonly #text: string
  #rest: string

  constructor(layout: string, text: string) {
    this.#layout = layout
    this.#text = text
    this.#rest = text
  }

  read(hasFraction: boolean): ZonedInstant {
    const year = this.#year()
    this.#literal('-')
    const month = this.#number('01', true, 1, 12, 'month')
    this.#literal('-')
    const day = this.#number('02', true)
    this.#literal('T')
    const hour = this.#number('15', false, 0, 23, 'hour')
    this.#literal(':')
    const minute = this.#number('04', true, 0, 59, 'minute')
    this.#literal(':')
    const second = this.#number('05', true, 0, 59, 'second')
    const nanos = hasFraction ? this.#sixDigits() : this.#optionalFraction()
    const offset = this.#zone()
    if (this.#rest !== '') throw this.#failure(`: extra text: ${goTimeQuote(this.#rest)}`)
    if (day < 1 || day > daysInMonth(year, month)) throw this.#failure(': day out of range')
    const seconds = daysFromCivil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset
    return { seconds, nanos, offset }
  }

  #year(): number {
    if (this.#rest.length < 4 || !isDigit(this.#rest, 0)) throw this.#mismatch('2006')
    const digits = this.#rest.slice(0, 4)
    if (!/^[0-9]{4}$/.test(digits)) throw this.#mismatch('2006')
    this.#rest = this.#rest.slice(4)
    return Number(digits)
  }

  #literal(char: string): void {
    if (!this.#rest.startsWith(char)) throw this.#mismatch(char)
    this.#rest = this.#rest.slice(1)
  }

  /** Reads one or two digits, exactly two if `fixed`. `what` names the number if it is out of bounds. */
  #number(element: string, fixed: boolean, low = 0, high = 99, what = ''): number {
    const length = isDigit(this.#rest, 1) ? 2 : 1
    if (!isDigit(this.#rest, 0) || (fixed && length === 1)) throw this.#mismatch(element)
    const value = Number(this.#rest.slice(0, length))
    this.#rest = this.#rest.slice(length)
    if (value < low || value > high) throw this.#failure(`: ${what} out of range`)
    return value
  }

  #optionalFraction(): number {
    const fraction = /^[.,]([0-9]+)/.exec(this.#rest)
    if (fraction === null) return 0
    this.#rest = this.#rest.slice(fraction[0].length)
    return Number((fraction[1] ?? '').slice(0, 9).padEnd(9, '0'))
  }

  #sixDigits(): number {
    const fraction = /^[.,]([0-9]{6})/.exec(this.#rest)
    if (fraction === null) throw this.#mismatch('.000000')
    this.#rest = this.#rest.slice(7)
    return Number(fraction[1]) * 1000
  }

  #zone(): number {
    if (this.#rest.startsWith('Z')) {
      this.#rest = this.#rest.slice(1)
      return 0
    }
    const zone = /^([-+])([0-9]{2}):([0-9]{2})/.exec(this.#rest)
    if (zone === null) throw this.#mismatch('Z07:00')
    const hours = Number(zone[2])
    const minutes = Number(zone[3])
    this.#rest = this.#rest.slice(6)
    // As in Go, offsets of 24 hours and of 60 minutes are accepted.
    if (minutes > 60) throw this.#failure(': time zone offset minute out of range')
    if (hours > 24) throw this.#failure(': time zone offset hour out of range')
    const offset = (hours * 60 + minutes) * 60
    return zone[1] === '-' ? -offset : offset
  }

  #mismatch(element: string): SyntaxError {
    return new SyntaxError(
      `parsing time ${goTimeQuote(this.#text)} as ${goTimeQuote(this.#layout)}: cannot parse ${goTimeQuote(this.#rest)} as ${goTimeQuote(element)}`,
    )
  }

  #failure(message: string): SyntaxError {
    return new SyntaxError(`parsing time ${goTimeQuote(this.#text)}${message}`)
  }
}

function isDigit(text: string, index: number): boolean {
  const code = text.charCodeAt(index)
  return code >= 0x30 && code <= 0x39
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/**
 * Returns the days since 1970-01-01 in the proleptic Gregorian calendar. Years start in March, so that leap days come
 * last.
 */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146097 + dayOfEra - 719468
}

function formatDateTime(seconds: number): string {
  const iso = new Date(seconds * 1000).toISOString()
  // toISOString writes years of more than four digits as +012345; Go prints no plus sign and no padding.
  const text = iso.length > 24 ? iso.replace(/^\+0*/, '').replace(/^-0+(?=[0-9]{4}-)/, '-') : iso
  return text.slice(0, -5)
}
