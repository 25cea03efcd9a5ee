import { parseRFC3339 } from '@kubewright/base'

/** How long ago a timestamp was, as kubectl prints ages (apimachinery/pkg/util/duration): `5m12s`, `3d4h`; `<unknown>` without one. */
export function ageOf(timestamp: string | undefined, now: number): string {
  if (!timestamp) return '<unknown>'
  return humanDuration(now - parseRFC3339(timestamp).seconds * 1000)
}

/** A duration in milliseconds with the two most significant units that matter. */
export function humanDuration(millis: number): string {
  // A few seconds of skew between clocks are no reason to print nonsense.
  const seconds = Math.trunc(millis / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 60 * 2) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 60 * 3) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (days < 8) return pair(days, 'd', hours % 24, 'h')
  if (days < 365 * 2) return `${days}d`
  const years = Math.trunc(days / 365)
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`
}

const pair = (large: number, unit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${unit}` : `${large}${unit}${small}${smallUnit}`
