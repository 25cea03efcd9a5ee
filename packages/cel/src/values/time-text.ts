import { formatF } from './go-number.ts'
import type { CelDuration, CelTimestamp } from './values.ts'

/** Formats a timestamp in RFC 3339 with as many fraction digits as necessary. */
export function timestampText(t: CelTimestamp): string {
  const date = new Date((t.seconds + t.zone) * 1000)
  const pad = (n: number, width = 2): string => String(n).padStart(width, '0')
  const day = `${pad(date.getUTCFullYear(), 4)}-${pad(date.getUTCMonth() + 1)}-${pad(date.getUTCDate())}`
  const time = `${pad(date.getUTCHours())}:${pad(date.getUTCMinutes())}:${pad(date.getUTCSeconds())}`
  const fraction = t.nanos === 0 ? '' : `.${pad(t.nanos, 9).replace(/0+$/, '')}`
  const minutes = Math.abs(Math.trunc(t.zone / 60))
  const zone = t.zone === 0 ? 'Z' : `${t.zone < 0 ? '-' : '+'}${pad(Math.trunc(minutes / 60))}:${pad(minutes % 60)}`
  return `${day}T${time}${fraction}${zone}`
}

/** Formats a duration in seconds with the unit: `3723.5s`. */
export function durationText(d: CelDuration): string {
  // As in Go's Duration.Seconds, whole seconds and the fraction are converted separately.
  const whole = d.nanos / 1_000_000_000n
  return `${formatF(Number(whole) + Number(d.nanos - whole * 1_000_000_000n) / 1e9)}s`
}
