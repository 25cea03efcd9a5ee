import { CelError } from '../cel-error.ts'
import type { CelDuration, CelTimestamp } from '../values.ts'

/** The fields of a timestamp in a time zone, as the `getX(zone)` methods ask for them. */
export interface CivilTime {
  readonly year: number
  /** 0 to 11. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
  /** Sunday is 0. */
  readonly weekday: number
  /** 0 to 365. */
  readonly yearDay: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly millis: number
}

const zones = new Map<string, Intl.DateTimeFormat>()

/** The local time of a timestamp; the zone is an IANA name or an offset such as `+01:30`. */
export function civilTime(t: CelTimestamp, zone: string): CivilTime {
  const local = new Date((t.seconds + zoneOffset(t, zone)) * 1000)
  const year = local.getUTCFullYear()
  return {
    year,
    month: local.getUTCMonth(),
    day: local.getUTCDate(),
    weekday: local.getUTCDay(),
    yearDay:
      Math.round((Date.UTC(2000, local.getUTCMonth(), local.getUTCDate()) - Date.UTC(2000, 0, 1)) / 86_400_000) -
      leapShift(year, local.getUTCMonth()),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    second: local.getUTCSeconds(),
    millis: Math.trunc(t.nanos / 1_000_000),
  }
}

/** 2000 is a leap year, so days after February of a common year are one less than counted there. */
function leapShift(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
  return !isLeap && month >= 2 ? 1 : 0
}

/** Seconds east of UTC at the time. */
function zoneOffset(t: CelTimestamp, zone: string): number {
  if (zone === 'UTC' || zone === '') return 0
  const colon = zone.indexOf(':')
  if (colon >= 0) {
    const hours = atoi(zone.slice(0, colon))
    const minutes = atoi(zone.slice(colon + 1))
    return (zone.startsWith('-') ? hours * 60 - minutes : hours * 60 + minutes) * 60
  }
  const parts = zoneFormat(zone).formatToParts(new Date(t.seconds * 1000))
  const field = (type: string): number => Number(parts.find((p) => p.type === type)?.value)
  const date = new Date(0)
  date.setUTCFullYear(field('year'), field('month') - 1, field('day'))
  date.setUTCHours(field('hour') % 24, field('minute'), field('second'))
  return Math.round(date.getTime() / 1000) - t.seconds
}

function atoi(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new CelError(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
}

function zoneFormat(zone: string): Intl.DateTimeFormat {
  let format = zones.get(zone)
  if (format === undefined) {
    try {
      format = new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        era: 'short',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      })
    } catch {
      throw new CelError(`unknown time zone ${zone}`)
    }
    zones.set(zone, format)
  }
  return format
}

/** Whole units of a duration, rounded towards zero. */
export function durationIn(d: CelDuration, nanosPerUnit: bigint): number {
  return Number(d.nanos / nanosPerUnit)
}
