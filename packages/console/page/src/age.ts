import { useEffect, useState } from 'preact/hooks'
import { useShared } from './settings.ts'

/** A duration as kubectl prints ages, such as 45s, 12m, 3h or 8d. */
export function shortDuration(millis: number): string {
  const seconds = Math.max(0, Math.floor(millis / 1000))
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`
}

/** The time since a moment in RFC 3339; empty without one. */
export function ageOf(time: string | undefined, now: number): string {
  const start = Date.parse(time ?? '')
  return Number.isNaN(start) ? '' : shortDuration(now - start)
}

/** The time of day of a moment in RFC 3339, in the user's time zone, with milliseconds. */
export function clockTime(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return ''
  const two = (value: number): string => String(value).padStart(2, '0')
  const [hours, minutes, seconds] = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two)
  return `${hours}:${minutes}:${seconds}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** The time of the moment that the page shows. For the present, draws the component again every few seconds. */
export function useNow(period = 5000): number {
  const { timeAt } = useShared()
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), period)
    return () => clearInterval(timer)
  }, [period])
  return timeAt ?? now
}
