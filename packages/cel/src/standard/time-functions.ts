import { errorText, fixedTimeZone, goQuote, type TimeZone, timeZone, type WallTime } from '@kubewright/base'
import { CelError } from '../values/cel-error.ts'
import type { CelDuration, CelTimestamp } from '../values/values.ts'

/** The fields of a timestamp in a time zone, for the `getX(zone)` methods. */
export interface CivilTime extends WallTime {
  /** 0 to 999. */
  readonly millis: number
}

/** Returns the local time of a timestamp. The zone is an IANA name or an offset such as `+01:30`. */
export function civilTime(t: CelTimestamp, zone: string): CivilTime {
  return { ...zoneOf(zone).wallTime(t.seconds * 1000), millis: Math.trunc(t.nanos / 1_000_000) }
}

function zoneOf(text: string): TimeZone {
  const colon = text.indexOf(':')
  if (colon < 0) {
    try {
      return timeZone(text)
    } catch (error) {
      throw new CelError(errorText(error))
    }
  }
  const hours = atoi(text.slice(0, colon))
  const minutes = atoi(text.slice(colon + 1))
  return fixedTimeZone((hours * 60 + (text.startsWith('-') ? -minutes : minutes)) * 60)
}

function atoi(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw new CelError(`strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`)
  return Number(text)
}

/** Returns the number of whole units in a duration, rounded towards zero. */
export function durationIn(d: CelDuration, nanosPerUnit: bigint): number {
  return Number(d.nanos / nanosPerUnit)
}
