import { CelType } from './cel-type.ts'
import { CelList, type CelMap } from './collections.ts'
import { durationText, timestampText } from './time-text.ts'
import {
  CelBytes,
  CelDouble,
  CelDuration,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
} from './values.ts'

/** A list or map that is a view of JSON and needs no conversion back. */
interface JsonView {
  readonly json: unknown
}

/**
 * Converts a CEL value to a plain JS value. Data becomes JSON data; uints and large ints become bigints if a number
 * would lose digits; timestamps and durations become their text forms; bytes become a Uint8Array; an absent optional
 * becomes `undefined`; types become their names.
 */
export function toNative(value: CelValue): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('json' in value) return (value as JsonView).json
  if (value instanceof CelDouble) return value.value
  if (value instanceof CelUint) return value.value <= 9007199254740991n ? Number(value.value) : value.value
  if (value instanceof CelBytes) return value.value
  if (value instanceof CelTimestamp) return timestampText(value)
  if (value instanceof CelDuration) return durationText(value)
  if (value instanceof CelOptional) return value.value === undefined ? undefined : toNative(value.value)
  if (value instanceof CelType) return value.name
  if (value instanceof CelOpaque) return value.toNative()
  if (value instanceof CelList) return value.toArray().map(toNative)
  const object: Record<string, unknown> = {}
  for (const key of (value as CelMap).keys()) {
    Object.defineProperty(object, String(toNative(key)), {
      value: toNative((value as CelMap).get(key)!),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return object
}
