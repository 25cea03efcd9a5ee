import { parseDuration, parseRFC3339 } from '@kubewright/base'
import { CelError } from '../values/cel-error.ts'
import { BOOL, BYTES, CelType, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT } from '../values/cel-type.ts'
import { formatG, parseGoFloat } from '../values/go-number.ts'
import { durationText, timestampText } from '../values/time-text.ts'
import {
  CelBytes,
  CelDouble,
  CelDuration,
  CelTimestamp,
  CelUint,
  type CelValue,
  INT64_MAX,
  INT64_MIN,
  intOf,
  typeOf,
  UINT64_MAX,
} from '../values/values.ts'
import { checkedTimestamp } from './arithmetic.ts'

function conversionError(from: CelValue, to: CelType): CelError {
  return new CelError(`type conversion error from '${typeOf(from).name}' to '${to.name}'`)
}

/** `int(v)`. */
export function toInt(v: CelValue): CelValue {
  if (typeof v === 'number' || typeof v === 'bigint') return v
  if (typeof v === 'string' && /^[+-]?\d+$/.test(v)) {
    const value = BigInt(v.startsWith('+') ? v.slice(1) : v)
    if (value >= INT64_MIN && value <= INT64_MAX) return intOf(value)
  }
  if (v instanceof CelDouble) {
    if (!(v.value > -(2 ** 63) && v.value < 2 ** 63)) throw new CelError('integer overflow')
    return intOf(BigInt(Math.trunc(v.value)))
  }
  if (v instanceof CelUint) {
    if (v.value > INT64_MAX) throw new CelError('integer overflow')
    return intOf(v.value)
  }
  if (v instanceof CelTimestamp) return v.seconds
  if (v instanceof CelDuration) return intOf(v.nanos)
  throw conversionError(v, INT)
}

/** `uint(v)`. */
export function toUint(v: CelValue): CelValue {
  if (v instanceof CelUint) return v
  if (typeof v === 'number' || typeof v === 'bigint') {
    if (v < 0) throw new CelError('unsigned integer overflow')
    return new CelUint(BigInt(v))
  }
  if (typeof v === 'string' && /^\d+$/.test(v)) {
    const value = BigInt(v)
    if (value <= UINT64_MAX) return new CelUint(value)
  }
  if (v instanceof CelDouble) {
    if (!(v.value >= 0 && v.value < 2 ** 64)) throw new CelError('unsigned integer overflow')
    return new CelUint(BigInt(Math.trunc(v.value)))
  }
  throw conversionError(v, UINT)
}

/** `double(v)`. */
export function toDouble(v: CelValue): CelValue {
  if (v instanceof CelDouble) return v
  if (typeof v === 'number' || typeof v === 'bigint') return new CelDouble(Number(v))
  if (v instanceof CelUint) return new CelDouble(Number(v.value))
  if (typeof v === 'string') {
    const value = parseGoFloat(v)
    if (value !== undefined) return new CelDouble(value)
  }
  throw conversionError(v, DOUBLE)
}

/** `string(v)`. */
export function toText(v: CelValue): CelValue {
  switch (typeof v) {
    case 'string':
      return v
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(v)
  }
  if (v instanceof CelDouble) return formatG(v.value)
  if (v instanceof CelUint) return String(v.value)
  if (v instanceof CelBytes) return decodeUtf8(v)
  if (v instanceof CelTimestamp) return timestampText(v)
  if (v instanceof CelDuration) return durationText(v)
  if (v === null) return 'null'
  throw conversionError(v, STRING)
}

function decodeUtf8(v: CelBytes): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(v.value)
  } catch {
    throw new CelError('invalid UTF-8 in bytes, cannot convert to string')
  }
}

const BOOL_TEXTS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((text) => [text, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((text) => [text, false] as const),
])

/** `bool(v)`. */
export function toBool(v: CelValue): CelValue {
  if (typeof v === 'boolean') return v
  if (typeof v === 'string') {
    const value = BOOL_TEXTS.get(v)
    if (value !== undefined) return value
  }
  throw conversionError(v, BOOL)
}

/** `bytes(v)`. */
export function toBytes(v: CelValue): CelValue {
  if (v instanceof CelBytes) return v
  if (typeof v === 'string') return new CelBytes(new TextEncoder().encode(v))
  throw conversionError(v, BYTES)
}

/** `duration(v)`. */
export function toDuration(v: CelValue): CelValue {
  if (v instanceof CelDuration) return v
  if (typeof v === 'string') {
    try {
      return new CelDuration(parseDuration(v))
    } catch {
      throw conversionError(v, DURATION)
    }
  }
  throw conversionError(v, DURATION)
}

/** `timestamp(v)`. */
export function toTimestamp(v: CelValue): CelValue {
  if (v instanceof CelTimestamp) return v
  if (typeof v === 'number' || typeof v === 'bigint') return checkedTimestamp(Number(v), 0)
  if (typeof v === 'string') {
    let time: ReturnType<typeof parseRFC3339>
    try {
      time = parseRFC3339(v)
    } catch {
      throw conversionError(v, TIMESTAMP)
    }
    return checkedTimestamp(time.seconds, time.nanos, time.offset)
  }
  throw conversionError(v, TIMESTAMP)
}

/** `type(v)`. Lists and maps give `list` and `map` without parameters. */
export function toType(v: CelValue): CelType {
  const type = typeOf(v)
  return type.params.length === 0 ? type : new CelType(type.kind, type.name)
}
