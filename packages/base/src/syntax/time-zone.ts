/** The date and the time of day that a clock in a time zone shows at an instant. */
export interface WallTime {
  readonly year: number
  /** 1 to 12. */
  readonly month: number
  /** 1 to 31. */
  readonly day: number
  /** 0 to 6; 0 is Sunday. */
  readonly weekday: number
  /** 0 to 365; 0 is 1 January. */
  readonly yearDay: number
  readonly hour: number
  readonly minute: number
  readonly second: number
}

/** Converts between instants, in milliseconds since 1970, and the wall time of a time zone. */
export interface TimeZone {
  /** Seconds east of UTC at an instant. */
  offsetAt(millis: number): number
  wallTime(millis: number): WallTime
  /**
   * The instant at which the zone shows a full hour. `day` and `month` may be one too large: they carry over, as in `Date.UTC`. Of a
   * time that occurs twice, one of both instants; of a time that the zone skips, the instant after the gap.
   */
  instant(year: number, month: number, day: number, hour: number): number
}

const second = 1000
const day = 86_400 * second

/** The names of three capital letters in the IANA database. Intl accepts others, such as `PST`, which Go rejects. */
const shortNames = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '))

/** Only zones that exist are kept, so the database bounds the size. */
const loaded = new Map<string, TimeZone>()

/**
 * Loads a time zone by its exact IANA name; `''` and `UTC` are UTC, and so is `Local`, because a control plane runs in UTC. Throws a
 * RangeError with the text of Go's time.LoadLocation when no such zone exists.
 */
export function timeZone(name: string): TimeZone {
  if (name === '' || name === 'UTC' || name === 'Local') return utc
  const known = loaded.get(name)
  if (known !== undefined) return known
  if (name.includes('..') || /^[/\\]/.test(name)) throw new RangeError('time: invalid location name')
  const format = ianaFormat(name)
  if (format === undefined) throw new RangeError(`unknown time zone ${name}`)
  const zone = zoneWith((millis) => formattedOffset(format, millis))
  loaded.set(name, zone)
  return zone
}

/** A time zone with the same offset, in seconds east of UTC, at all times. */
export function fixedTimeZone(offset: number): TimeZone {
  return offset === 0 ? utc : zoneWith(() => offset)
}

function zoneWith(offsetAt: (millis: number) => number): TimeZone {
  return {
    offsetAt,
    wallTime: (millis) => utcWallTime(millis + offsetAt(millis) * second),
    instant: (year, month, dayOfMonth, hour) => {
      const shown = Date.UTC(year, month - 1, dayOfMonth, hour)
      // The offset depends on the instant that is searched. The second guess is right, unless the time lies in a gap.
      const guess = shown - offsetAt(shown) * second
      const better = shown - offsetAt(guess) * second
      return better + offsetAt(better) * second === shown ? better : Math.max(guess, better)
    },
  }
}

const utc = zoneWith(() => 0)

function utcWallTime(millis: number): WallTime {
  const date = new Date(millis)
  const year = date.getUTCFullYear()
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  const newYear = new Date(0).setUTCFullYear(year, 0, 1)
  return {
    year,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    yearDay: Math.floor((millis - newYear) / day),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  }
}

/**
 * Intl accepts any case and names that the IANA database lacks; Go opens a file of exactly that name. The case of an alias cannot be
 * compared with the zone that Intl resolves it to, but each part of every name in the database starts with a capital letter.
 */
function ianaFormat(name: string): Intl.DateTimeFormat | undefined {
  if (/^[A-Z]{3}$/.test(name) && !shortNames.has(name)) return undefined
  if (name.startsWith('SystemV/') || !name.split('/').every((part) => /^[A-Z]/.test(part))) return undefined
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      era: 'narrow',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  } catch {
    return undefined
  }
  const resolved = format.resolvedOptions().timeZone
  return resolved !== name && resolved.toLowerCase() === name.toLowerCase() ? undefined : format
}

/** The offset is the difference between the wall time that Intl prints and the instant. */
function formattedOffset(format: Intl.DateTimeFormat, millis: number): number {
  const parts = new Map(format.formatToParts(millis).map(({ type, value }) => [type, value]))
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type))
  const year = parts.get('era') === 'B' ? 1 - part('year') : part('year')
  const shown = new Date(0)
  shown.setUTCFullYear(year, part('month') - 1, part('day'))
  shown.setUTCHours(part('hour'), part('minute'), part('second'))
  return Math.round((shown.getTime() - Math.floor(millis / second) * second) / second)
}
