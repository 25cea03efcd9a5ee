import { errorText, nanosToMillis, parseDuration } from '@kubewright/base'
import type { ZoneClock } from './zone-clock.ts'

/** When a cron job runs. */
export interface Schedule {
  /** The first time after an instant, in milliseconds; undefined when there is none within years. */
  next(after: number): number | undefined
}

interface Field {
  readonly first: number
  readonly last: number
  readonly names?: readonly string[]
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const fields: readonly Field[] = [
  { first: 0, last: 59 },
  { first: 0, last: 23 },
  { first: 1, last: 31 },
  { first: 1, last: 12, names: months },
  { first: 0, last: 6, names: weekdays },
]

const aliases: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const minute = 60_000
const yearsToLook = 5

/** Reads a schedule in the syntax of cron: five fields, names such as `@daily`, or `@every 1h30m`. Throws a SyntaxError. */
export function parseSchedule(text: string, zone: ZoneClock): Schedule {
  const spec = text.trim()
  if (spec === '') throw new SyntaxError('empty spec string')
  if (spec.startsWith('@every ')) return every(spec)
  const alias = spec.startsWith('@') ? aliases[spec.toLowerCase()] : spec
  if (alias === undefined) throw new SyntaxError(`unrecognized descriptor: ${spec}`)
  const parts = alias.split(/\s+/)
  if (parts.length !== fields.length) {
    throw new SyntaxError(`expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`)
  }
  const sets = parts.map((part, index) => parseField(part, fields[index] as Field))
  const [minutes, hours, days, inMonths, onWeekdays] = sets as [Values, Values, Values, Values, Values]
  return fieldSchedule({ minutes, hours, days, months: inMonths, weekdays: onWeekdays }, zone)
}

function every(spec: string): Schedule {
  let period: number
  try {
    period = nanosToMillis(parseDuration(spec.slice('@every '.length)))
  } catch (error) {
    throw new SyntaxError(`failed to parse duration ${spec}: ${errorText(error)}`)
  }
  // Whole seconds, one at least.
  const step = Math.max(1, Math.floor(period / 1000)) * 1000
  return { next: (after) => Math.floor(after / 1000) * 1000 + step }
}

interface Values {
  readonly set: ReadonlySet<number>
  /** Whether the field leaves all open: then the other one of day and weekday decides alone. */
  readonly star: boolean
}

function parseField(text: string, field: Field): Values {
  const set = new Set<number>()
  let star = false
  for (const part of text.split(',')) {
    const [range = '', step, ...rest] = part.split('/')
    if (rest.length > 0) throw new SyntaxError(`too many slashes: ${part}`)
    const open = range === '*' || range === '?'
    if (open && step === undefined) star = true
    const [low = '', high, ...more] = open ? [String(field.first), String(field.last)] : range.split('-')
    if (more.length > 0) throw new SyntaxError(`too many hyphens: ${part}`)
    const first = parseValue(low, field)
    const increment = step === undefined ? 1 : parseNumber(step)
    const last = high !== undefined ? parseValue(high, field) : step !== undefined ? field.last : first
    if (first < field.first)
      throw new SyntaxError(`beginning of range (${first}) below minimum (${field.first}): ${part}`)
    if (last > field.last) throw new SyntaxError(`end of range (${last}) above maximum (${field.last}): ${part}`)
    if (first > last) throw new SyntaxError(`beginning of range (${first}) beyond end of range (${last}): ${part}`)
    if (increment === 0) throw new SyntaxError(`step of range should be a positive number: ${part}`)
    for (let value = first; value <= last; value += increment) set.add(value)
  }
  return { set, star }
}

function parseValue(text: string, { names, first }: Field): number {
  const named = names?.indexOf(text.toLowerCase()) ?? -1
  return named >= 0 ? named + first : parseNumber(text)
}

function parseNumber(text: string): number {
  if (!/^[0-9]+$/.test(text)) throw new SyntaxError(`failed to parse int from ${text}`)
  return Number(text)
}

interface FieldValues {
  readonly minutes: Values
  readonly hours: Values
  readonly days: Values
  readonly months: Values
  readonly weekdays: Values
}

function fieldSchedule(values: FieldValues, zone: ZoneClock): Schedule {
  const dayFits = (day: number, weekday: number): boolean => {
    const [byDay, byWeekday] = [values.days.set.has(day), values.weekdays.set.has(weekday)]
    return values.days.star || values.weekdays.star ? byDay && byWeekday : byDay || byWeekday
  }
  const next = (after: number): number | undefined => {
    let at = Math.floor(after / minute) * minute + minute
    const lastYear = zone.wallTime(at).year + yearsToLook
    for (;;) {
      const { year, month, day, hour, minute: shown, weekday } = zone.wallTime(at)
      if (year > lastYear) return undefined
      let skipTo: number
      if (!values.months.set.has(month)) skipTo = zone.instant(year, month + 1, 1, 0)
      else if (!dayFits(day, weekday)) skipTo = zone.instant(year, month, day + 1, 0)
      else if (!values.hours.set.has(hour)) skipTo = at + (60 - shown) * minute
      else if (!values.minutes.set.has(shown)) skipTo = at + minute
      else return at
      // Where clocks are set back a wall time comes twice: time itself must go on.
      at = Math.max(skipTo, at + minute)
    }
  }
  return { next }
}
