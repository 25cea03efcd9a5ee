import { parseQuantity, parseRFC3339 } from '@kubewright/base'

/** The age of a timestamp as kubectl shows it, such as `5m12s` or `3d4h`; `<unknown>` without a timestamp (apimachinery/pkg/util/duration). */
export function ageOf(timestamp: string | null | undefined, now: number): string {
  if (!timestamp) return '<unknown>'
  return humanDuration(now - millisOf(timestamp))
}

/** Parses a timestamp into epoch milliseconds. */
export function millisOf(timestamp: string): number {
  const { seconds, nanos } = parseRFC3339(timestamp)
  return seconds * 1000 + Math.trunc(nanos / 1e6)
}

/** Formats a duration with at most two units. */
export function humanDuration(millis: number): string {
  // Two seconds of clock skew are tolerated.
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

/** The canonical form of a quantity. A missing one counts as zero. */
export function quantityText(quantity: number | string | null | undefined): string {
  return parseQuantity(String(quantity ?? '0')).toString()
}

/** Formats labels as `a=1,b=2`, sorted by key; `<none>` without labels. */
export function labelsText(labels: { readonly [key: string]: string | null | undefined } | null | undefined): string {
  const text = Object.entries(labels ?? {})
    .map(([key, value]) => `${key}=${value ?? ''}`)
    .sort()
    .join(',')
  return text === '' ? '<none>' : text
}

/** The first `shown` items of a list and the number of further ones. `total` counts items that the list leaves out as well. */
export function firstOf(list: readonly string[], shown: number, separator = ',', total: number = list.length): string {
  const text = list.slice(0, shown).join(separator)
  return total > shown ? `${text} + ${total - shown} more...` : text
}

/** The addresses or host names of a load balancer, sorted and without duplicates. */
export function loadBalancerText(
  status:
    | {
        readonly ingress?:
          | readonly { readonly ip?: string | null | undefined; readonly hostname?: string | null | undefined }[]
          | null
          | undefined
      }
    | null
    | undefined,
): string {
  const found = (status?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  return [...new Set(found.filter((text) => text !== ''))].sort().join(',')
}
