import { formatMicroTime, formatRFC3339, type Instant, instantFromMillis, parseRFC3339 } from '@kubewright/base'

/** A `metav1.Time` of a clock's milliseconds: whole seconds, UTC, `2024-05-01T12:00:00Z`. */
export function toTime(millis: number): string {
  return formatRFC3339(instantFromMillis(millis))
}

/** A `metav1.MicroTime` of a clock's milliseconds (fractions count): `2024-05-01T12:00:00.000000Z`. */
export function toMicroTime(millis: number): string {
  return formatMicroTime(instantFromMillis(millis))
}

/** The milliseconds since 1970 of a `metav1.Time` or `metav1.MicroTime`; throws with Go's text when it is neither. */
export function fromTime(text: string): number {
  const instant: Instant = parseRFC3339(text)
  return instant.seconds * 1000 + instant.nanos / 1_000_000
}
