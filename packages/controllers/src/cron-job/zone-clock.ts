/** What a clock on the wall shows at an instant. */
export interface WallTime {
  readonly year: number
  /** From 1. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  /** 0 is Sunday. */
  readonly weekday: number
}

/** Converts between instants and the wall time of a time zone. */
export interface ZoneClock {
  wallTime(millis: number): WallTime
  /** The instant at which the zone shows the time; of a time that is skipped, the instant right after the gap. */
  instant(year: number, month: number, day: number, hour: number): number
  /** Minutes east of Greenwich at an instant. */
  offset(millis: number): number
}

/** The clock of a time zone by its IANA name; undefined when there is no such zone. */
export function zoneClock(name: string | undefined): ZoneClock | undefined {
  if (name === undefined || name === 'UTC' || name === 'Etc/UTC') return utc
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
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
  const offset = (millis: number): number => {
    const parts = new Map(format.formatToParts(millis).map(({ type, value }) => [type, Number(value)]))
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const shown = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'))
    return Math.round((shown - Math.floor(millis / 1000) * 1000) / 60_000)
  }
  return {
    offset,
    wallTime: (millis) => utc.wallTime(millis + offset(millis) * 60_000),
    instant: (year, month, day, hour) => {
      const shown = Date.UTC(year, month - 1, day, hour)
      // The offset of the instant is not known before the instant: two rounds settle it, except within a gap.
      const guess = shown - offset(shown) * 60_000
      const better = shown - offset(guess) * 60_000
      return better + offset(better) * 60_000 === shown ? better : Math.max(guess, better)
    },
  }
}

const utc: ZoneClock = {
  offset: () => 0,
  wallTime: (millis) => {
    const date = new Date(millis)
    return {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      hour: date.getUTCHours(),
      minute: date.getUTCMinutes(),
      weekday: date.getUTCDay(),
    }
  },
  instant: (year, month, day, hour) => Date.UTC(year, month - 1, day, hour),
}
