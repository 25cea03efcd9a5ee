import { goTimeQuote } from './internal/go-time-quote.ts'

/**
 * A length of time as text: numbers with units such as `'30s'`, `'1.5h'` or `'1h30m'`. The type covers the usual
 * combinations of units; {@link parseDuration} accepts all of Go's syntax.
 */
export type DurationText =
  | `${number}${'ns' | 'us' | 'µs' | 'ms' | 's' | 'm' | 'h'}`
  | `${number}h${number}m`
  | `${number}h${number}m${number}s`
  | `${number}h${number}s`
  | `${number}m${number}s`
  | `${number}s${number}ms`

/** A length of time: a number of milliseconds, or a text such as `'30s'`, `'1.5h'` or `'1h30m'`. */
export type Duration = number | DurationText

const UNITS: ReadonlyMap<string, bigint> = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n], // U+00B5, micro sign
  ['μs', 1_000n], // U+03BC, Greek letter mu
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
])

const MAX_INT64 = 2n ** 63n - 1n
const MIN_INT64 = -(2n ** 63n)

/**
 * Parses Go's duration syntax (`1h2m3.5s`, `-1.5µs`, `0`) into whole nanoseconds. Results, 64-bit limits and error
 * texts are those of Go's time.ParseDuration. Throws a RangeError.
 */
export function parseDuration(text: string): bigint {
  const negative = text.startsWith('-')
  let rest = negative || text.startsWith('+') ? text.slice(1) : text
  if (rest === '0') return 0n
  if (rest === '') throw invalid(text)
  let total = 0n
  while (rest !== '') {
    const [matched = '', integer = '', fraction] = /^([0-9]*)(?:\.([0-9]*))?/.exec(rest) ?? []
    if (integer === '' && (fraction ?? '') === '') throw invalid(text)
    rest = rest.slice(matched.length)
    const [name = ''] = /^[^.0-9]*/.exec(rest) ?? []
    // As in Go, the size of the number is checked before the unit.
    if (BigInt(integer) > -MIN_INT64) throw invalid(text)
    if (name === '') throw new RangeError(`time: missing unit in duration ${goTimeQuote(text)}`)
    const unit = UNITS.get(name)
    if (unit === undefined)
      throw new RangeError(`time: unknown unit ${goTimeQuote(name)} in duration ${goTimeQuote(text)}`)
    rest = rest.slice(name.length)
    total += BigInt(integer) * unit + fractionOf(fraction ?? '', unit)
    if (total > -MIN_INT64) throw invalid(text)
  }
  if (negative) return -total
  if (total > MAX_INT64) throw invalid(text)
  return total
}

// As in Go, fractions are computed in floating point and truncated to a nanosecond; digits that would overflow 64 bits
// are ignored.
function fractionOf(digits: string, unit: bigint): bigint {
  let value = 0n
  let scale = 1
  for (const digit of digits) {
    const longer = value * 10n + BigInt(digit)
    if (longer > -MIN_INT64) break
    value = longer
    scale *= 10
  }
  return value === 0n ? 0n : BigInt(Math.trunc(Number(value) * (Number(unit) / scale)))
}

const invalid = (text: string): RangeError => new RangeError(`time: invalid duration ${goTimeQuote(text)}`)

/**
 * Formats a duration exactly like Go's Duration.String(): `1h2m3.5s`, `1.5µs`, `-1m0s`, `0s`. A bigint is a number of
 * nanoseconds within 64 bits; a number is milliseconds.
 */
export function formatDuration(duration: bigint | Duration): string {
  const nanoseconds = typeof duration === 'bigint' ? duration : millisToNanos(toMillis(duration))
  if (nanoseconds > MAX_INT64 || nanoseconds < MIN_INT64) {
    throw new RangeError(`duration must fit into 64 bits of nanoseconds: ${nanoseconds}`)
  }
  if (nanoseconds < 0n) return `-${formatMagnitude(-nanoseconds)}`
  return nanoseconds === 0n ? '0s' : formatMagnitude(nanoseconds)
}

function formatMagnitude(nanoseconds: bigint): string {
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`
  if (nanoseconds < 1_000_000n) return `${decimal(nanoseconds, 3)}µs`
  if (nanoseconds < 1_000_000_000n) return `${decimal(nanoseconds, 6)}ms`
  const minutes = nanoseconds / 60_000_000_000n
  const seconds = `${decimal(nanoseconds % 60_000_000_000n, 9)}s`
  if (minutes === 0n) return seconds
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`
}

// Divides `value` by 10^places and formats the result without trailing zeros.
function decimal(value: bigint, places: number): string {
  const digits = value.toString().padStart(places + 1, '0')
  const fraction = digits.slice(-places).replace(/0+$/, '')
  return fraction === '' ? digits.slice(0, -places) : `${digits.slice(0, -places)}.${fraction}`
}

/** Converts a `Duration` to milliseconds, keeping fractions. Malformed text and NaN throw a RangeError. */
export function toMillis(duration: Duration): number {
  if (typeof duration === 'string') return millisOfText(duration)
  if (Number.isNaN(duration))
    throw new RangeError('duration must be a number of milliseconds or a text such as "30s": NaN')
  return duration
}

// A program has few distinct texts, most of them constants. The limit bounds memory against texts from outside.
const knownTexts = new Map<string, number>()
const knownTextsLimit = 256

function millisOfText(text: string): number {
  let millis = knownTexts.get(text)
  if (millis === undefined) {
    millis = nanosToMillis(parseDuration(text))
    if (knownTexts.size >= knownTextsLimit) knownTexts.clear()
    knownTexts.set(text, millis)
  }
  return millis
}

/** Converts nanoseconds to milliseconds. Exact while the result has at most 53 significant bits. */
export function nanosToMillis(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n) + Number(nanoseconds % 1_000_000n) / 1e6
}

/** Converts milliseconds to nanoseconds, rounded to the nearest one. `Infinity` and NaN throw a RangeError. */
export function millisToNanos(milliseconds: number): bigint {
  const whole = Math.trunc(milliseconds)
  return BigInt(whole) * 1_000_000n + BigInt(Math.round((milliseconds - whole) * 1e6))
}
