import { JsonFloat } from '@kubewright/api'
import { base64Prefix } from '@kubewright/base'
import { type DecodeState, type GoCodec, GoDecodeError, type GoKind } from './go-decode-state.ts'

/** The codec of a string type. `type` is its name in errors. */
export function stringCodec(type: string): GoCodec {
  return {
    omittable: true,
    zero: () => '',
    decode: (value, state) => {
      if (typeof value === 'string') return value === '' ? undefined : value
      return value === null ? undefined : state.mismatched(value, type, 'string')
    },
  }
}

/** The codec of a bool type. */
export function boolCodec(type: string): GoCodec {
  return {
    omittable: true,
    zero: () => false,
    decode: (value, state) => {
      if (typeof value === 'boolean') return value || undefined
      return value === null ? undefined : state.mismatched(value, type, 'bool')
    },
  }
}

/** Integer types with their smallest and largest value. */
export const integers: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  int: [-(2 ** 63), 2 ** 63],
  uint64: [0, 2 ** 64],
}

/** The codec of an integer type with its limits. */
export function integerCodec(kind: GoKind, min: number, max: number, type: string): GoCodec {
  return {
    omittable: true,
    zero: () => 0,
    decode: (value, state) => {
      const exact = typeof value === 'number' ? literalOf(value) : value
      if (typeof exact === 'bigint') {
        if (exact >= BigInt(min) && exact < BigInt(max)) return value
        return wrapped(exact, state, kind, type)
      }
      if (typeof value === 'number') {
        const fits = Number.isInteger(value) && value >= min && (value < max || (value === max && max < 2 ** 53))
        if (fits) return value === 0 ? undefined : value
        return wrapped(value, state, kind, type)
      }
      return value === null ? undefined : state.mismatched(value, type, kind)
    },
  }
}

/**
 * The integer of a JSON literal beyond the exact range of doubles. The JSON parser returns such an integer as bigint, unless the double
 * has the same text: -9223372036854776000 is a double, and smaller than every int64 although the double is not.
 */
function literalOf(value: number): number | bigint {
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER || !Number.isInteger(value)) return value
  const text = String(value)
  return text.includes('e') ? value : BigInt(text)
}

/**
 * The value of a number that does not fit the type. The converter of maps accepts it: a number beyond int64 is a float, which the processor
 * converts to the smallest int64, and an int64 is truncated to the lower bits of an int32 (runtime/converter.go).
 */
function wrapped(value: number | bigint, state: DecodeState, kind: GoKind, type: string): number | bigint | undefined {
  const isWhole = typeof value === 'bigint' || Number.isInteger(value)
  if (state.words !== 'map' || !isWhole || (kind !== 'int32' && kind !== 'int64')) {
    return state.mismatched(value, type, kind)
  }
  const exact = BigInt(value)
  const int64 = BigInt.asIntN(64, exact) === exact ? exact : -(2n ** 63n)
  return kind === 'int64' ? int64 : Number(BigInt.asIntN(32, int64)) || undefined
}

/** The codec of float64, which accepts integers. */
export function floatCodec(type: string): GoCodec {
  return {
    omittable: true,
    zero: () => 0,
    decode: (value, state) => {
      if (typeof value === 'number') return value === 0 ? undefined : value
      if (typeof value === 'bigint') return Number(value)
      if (value instanceof JsonFloat) return Number(value.literal)
      return value === null ? undefined : state.mismatched(value, type, 'float64')
    },
  }
}

/** The codec of []byte, which is base64 in JSON. */
export function bytesCodec(type: string): GoCodec {
  return {
    omittable: true,
    // Storage does not distinguish empty from absent bytes; both are read as empty.
    zero: () => '',
    decode: (value, state) => {
      if (value === null) return undefined
      if (Array.isArray(value)) return bytesOf(value, state)
      if (typeof value !== 'string') return state.mismatched(value, type, 'slice')
      const text = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value
      const wrong = badBase64(text)
      if (wrong >= 0) {
        const problem = `illegal base64 data at input byte ${wrong}`
        if (state.words === 'map') throw new GoDecodeError(`error decoding from json: ${problem}`)
        state.mismatch ??= problem
        return undefined
      }
      return text === '' ? undefined : text
    },
  }
}

/** Go accepts a list of numbers as bytes, in which null is 0. The converter of maps truncates numbers. */
function bytesOf(list: readonly unknown[], state: DecodeState): string | undefined {
  const bytes = list.map((item) => {
    if (item === null) return 0
    const isWhole = typeof item === 'number' && Number.isInteger(item)
    if (isWhole && (state.words === 'map' || (item >= 0 && item <= 0xff))) return item & 0xff
    if (state.words === 'map') throw new GoDecodeError('unrecognized type: uint8')
    state.mismatched(item, 'uint8', 'uint64')
    return 0
  })
  return bytes.length === 0 ? undefined : Buffer.from(bytes).toString('base64')
}

/** The position of the first error of Go's base64 decoder, or -1. */
function badBase64(text: string): number {
  if (base64Prefix(text) === text.length) return -1
  const at = text.search(/[^A-Za-z0-9+/]/)
  if (at < 0) return text.length - (text.length % 4 === 0 ? 4 : text.length % 4)
  if (text[at] !== '=' || at % 4 < 2) return at
  // After the first padding character only the second one may follow.
  if (at % 4 === 2) return text[at + 1] === '=' ? at + 2 : Math.min(at + 1, text.length)
  return at + 1
}
