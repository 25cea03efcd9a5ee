import { formatMicroTime, formatRFC3339, type Instant, instantFromMillis, parseRFC3339 } from '@kubewright/base'

/** Formats milliseconds since 1970 as a `metav1.Time`: whole seconds, UTC, `2024-05-01T12:00:00Z`. */
export function toTime(millis: number): string {
  return formatRFC3339(instantFromMillis(millis))
}

/** Formats milliseconds since 1970 (with fractions) as a `metav1.MicroTime`: `2024-05-01T12:00:00.000000Z`. */
export function toMicroTime(millis: number): string {
  return formatMicroTime(instantFromMillis(millis))
}

/** Parses a `metav1.Time` or `metav1.MicroTime` to milliseconds since 1970. Throws with Go's message when it is neither. */
export function fromTime(text: string): number {
  const instant: Instant = parseRFC3339(text)
  return instant.seconds * 1000 + instant.nanos / 1_000_000
}
