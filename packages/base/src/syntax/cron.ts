import { parseDuration } from '../duration.ts'
import { errorText } from '../error-text.ts'
import { goQuote } from './go-quote.ts'
import { type TimeZone, timeZone, type WallTime } from './time-zone.ts'

/** The times at which a cron schedule fires. */
export interface CronSchedule {
  /** The first time after an instant, both in milliseconds; undefined when the schedule does not fire within five years. */
  next(after: number): number | undefined
}

/** One of the five fields of a schedule: the numbers it may hold, and names for them, the first of which stands for `min`. */
interface Unit {
  readonly min: number
  readonly max: number
  readonly names: readonly string[]
}

/** The values that a field selects. */
interface Selection {
  readonly values: ReadonlySet<number>
  /** Whether the field restricts nothing, so that of day and weekday the other one decides alone. */
  readonly isOpen: boolean
}

const units: readonly [Unit, Unit, Unit, Unit, Unit] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'] },
  { min: 0, max: 6, names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] },
]

const descriptors: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
])

const everyPrefix = '@every '
const second = 1000
const minute = 60 * second
const yearsToSearch = 5
const maxInt64 = 2n ** 63n - 1n

/** Words between white space as Go's unicode.IsSpace defines it: JavaScript's `\S` differs in U+0085 and U+FEFF. */
const word = /[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu

/**
 * Parses the schedule of a CronJob. The grammar, in which only names ignore case:
 *
 *     schedule   = [("TZ=" | "CRON_TZ=") zone " "] (fields | descriptor)
 *     fields     = minute hour day month weekday, separated by white space
 *     field      = range *("," range); empty ranges are skipped
 *     range      = ("*" | "?" | value ["-" value]) ["/" step]
 *     descriptor = "@yearly" | "@monthly" | … | "@every " duration
 *
 * Accepts and rejects what kube-apiserver and kube-controller-manager do. Throws a SyntaxError with the text that they print. The zone
 * is UTC unless the schedule names one.
 */
export function parseCron(text: string): CronSchedule {
  if (text === '') throw new SyntaxError('empty spec string')
  const { zone, schedule } = splitZone(text)
  if (!schedule.startsWith('@')) return parseFields(schedule, zone)
  const fields = descriptors.get(schedule)
  if (fields !== undefined) return parseFields(fields, zone)
  if (schedule.startsWith(everyPrefix)) return parseEvery(schedule)
  throw new SyntaxError(`unrecognized descriptor: ${schedule}`)
}

function splitZone(text: string): { readonly zone: TimeZone; readonly schedule: string } {
  const [, name, rest] = /^(?:CRON_)?TZ=([^ ]*)( .*)?$/su.exec(text) ?? []
  if (name === undefined) return { zone: timeZone('UTC'), schedule: text }
  // kube-apiserver slices the text at the missing blank, recovers from the panic and prints it.
  if (rest === undefined) {
    throw new SyntaxError('invalid schedule format: runtime error: slice bounds out of range [:-1]')
  }
  try {
    return { zone: timeZone(name), schedule: trimSpace(rest) }
  } catch (error) {
    throw new SyntaxError(`provided bad location ${name}: ${errorText(error)}`)
  }
}

function trimSpace(text: string): string {
  const found = [...text.matchAll(word)]
  const [first, last] = [found[0], found.at(-1)]
  return first === undefined || last === undefined ? '' : text.slice(first.index, last.index + last[0].length)
}

/** A schedule with a fixed period. Periods are whole seconds, at least one. */
function parseEvery(text: string): CronSchedule {
  let nanos: bigint
  try {
    nanos = parseDuration(text.slice(everyPrefix.length))
  } catch (error) {
    throw new SyntaxError(`failed to parse duration ${text}: ${errorText(error)}`)
  }
  const period = Math.max(1, Number(nanos / 1_000_000_000n)) * second
  return { next: (after) => Math.floor(after / second) * second + period }
}

function parseFields(text: string, zone: TimeZone): CronSchedule {
  const fields = text.match(word) ?? []
  if (fields.length !== units.length) {
    throw new SyntaxError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`)
  }
  const selections = units.map((unit, i) => parseField(fields[i]!, unit))
  // Searching five years for a minute that no field selects would take long.
  if (selections.some(({ values }) => values.size === 0)) return { next: () => undefined }
  const [minutes, hours, days, months, weekdays] = selections
  return new WallSchedule({ minutes: minutes!, hours: hours!, days: days!, months: months!, weekdays: weekdays! }, zone)
}

function parseField(text: string, unit: Unit): Selection {
  const values = new Set<number>()
  let isOpen = false
  for (const range of text.split(',')) {
    if (range === '') continue
    const { low, high, step, isStar } = parseRange(range, unit)
    // A star with a step above one does restrict the field.
    isOpen ||= isStar && step <= 1n
    for (let value = low; value <= high; value += step) values.add(Number(value))
  }
  return { values, isOpen }
}

interface Range {
  readonly low: bigint
  readonly high: bigint
  readonly step: bigint
  readonly isStar: boolean
}

/** The order of the checks decides which of several mistakes is reported, and is that of Kubernetes. */
function parseRange(text: string, unit: Unit): Range {
  const [span = '', stepText, ...moreSteps] = text.split('/')
  const [start = '', end, ...moreEnds] = span.split('-')
  // The text between the hyphen after a star and the next slash is ignored.
  const isStar = start === '*' || start === '?'
  const low = isStar ? BigInt(unit.min) : parseValue(start, unit)
  if (!isStar && moreEnds.length > 0) throw new SyntaxError(`too many hyphens: ${text}`)
  // `5/10` means from 5 to the end.
  const isUnbounded = isStar || (end === undefined && stepText !== undefined)
  let high = low
  if (!isStar && end !== undefined) high = parseValue(end, unit)
  if (moreSteps.length > 0) throw new SyntaxError(`too many slashes: ${text}`)
  const step = stepText === undefined ? 1n : parseNumber(stepText)
  if (isUnbounded) high = BigInt(unit.max)
  if (low < unit.min) throw new SyntaxError(`beginning of range (${low}) below minimum (${unit.min}): ${text}`)
  if (high > unit.max) throw new SyntaxError(`end of range (${high}) above maximum (${unit.max}): ${text}`)
  if (low > high) throw new SyntaxError(`beginning of range (${low}) beyond end of range (${high}): ${text}`)
  if (step === 0n) throw new SyntaxError(`step of range should be a positive number: ${text}`)
  return { low, high, step, isStar }
}

function parseValue(text: string, { min, names }: Unit): bigint {
  const index = names.indexOf(text.toLowerCase())
  return index < 0 ? parseNumber(text) : BigInt(min + index)
}

function parseNumber(text: string): bigint {
  const fail = (why: string): never => {
    throw new SyntaxError(`failed to parse int from ${text}: strconv.Atoi: parsing ${goQuote(text)}: ${why}`)
  }
  const [, sign, digits] = /^([+-]?)([0-9]+)$/.exec(text) ?? []
  if (digits === undefined) return fail('invalid syntax')
  const number = sign === '-' ? -BigInt(digits) : BigInt(digits)
  if (number > maxInt64 || number < -maxInt64 - 1n) return fail('value out of range')
  if (number < 0n) throw new SyntaxError(`negative number (${number}) not allowed: ${text}`)
  return number
}

interface Selections {
  readonly minutes: Selection
  readonly hours: Selection
  readonly days: Selection
  readonly months: Selection
  readonly weekdays: Selection
}

/** Fires at the full minutes whose wall time is selected. A wall time that occurs twice, when clocks are set back, fires twice. */
class WallSchedule implements CronSchedule {
  readonly #selections: Selections
  readonly #zone: TimeZone

  constructor(selections: Selections, zone: TimeZone) {
    this.#selections = selections
    this.#zone = zone
  }

  next(after: number): number | undefined {
    let at = Math.floor(after / minute) * minute + minute
    const lastYear = this.#zone.wallTime(at).year + yearsToSearch
    for (;;) {
      const wall = this.#zone.wallTime(at)
      if (wall.year > lastYear) return undefined
      const candidate = this.#skip(at, wall)
      if (candidate === at) return at
      // When clocks are set back, the wall time to skip to may lie in the past.
      at = Math.max(candidate, at + minute)
    }
  }

  /** The same instant when all fields select it, else the start of the next month, day, hour or minute. */
  #skip(at: number, wall: WallTime): number {
    const { minutes, hours, months } = this.#selections
    if (!months.values.has(wall.month)) return this.#zone.instant(wall.year, wall.month + 1, 1, 0)
    if (!this.#selectsDay(wall)) return this.#zone.instant(wall.year, wall.month, wall.day + 1, 0)
    if (!hours.values.has(wall.hour)) return at + (60 - wall.minute) * minute
    return minutes.values.has(wall.minute) ? at : at + minute
  }

  /** Day and weekday are alternatives, unless one of them restricts nothing. */
  #selectsDay({ day, weekday }: WallTime): boolean {
    const { days, weekdays } = this.#selections
    if (days.isOpen || weekdays.isOpen) return days.values.has(day) && weekdays.values.has(weekday)
    return days.values.has(day) || weekdays.values.has(weekday)
  }
}
