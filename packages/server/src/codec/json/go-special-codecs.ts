import { JsonFloat } from '@kubewright/api'
import {
  canonicalMicroTime,
  canonicalRFC3339,
  deepCopy,
  formatDuration,
  isJsonObject,
  parseDuration,
  parseQuantity,
} from '@kubewright/base'
import { type DecodeState, type GoCodec, GoDecodeError, goJsonKind, literalOf } from './go-decode-state.ts'

/** The codec of a type with a decoder of its own. An error ends decoding at once. */
function own(decode: (value: unknown, state: DecodeState) => unknown, zero: unknown): GoCodec {
  return {
    omittable: false,
    zero: () => zero,
    decode: (value, state) => {
      if (value === null) return zero
      try {
        return decode(value, state)
      } catch (error) {
        throw error instanceof GoDecodeError ? error : new GoDecodeError((error as Error).message)
      }
    },
  }
}

function text(value: unknown, state: DecodeState): string {
  if (typeof value === 'string') return value
  throw new GoDecodeError(state.describe(goJsonKind(value), 'string'))
}

const zeroTime = '0001-01-01T00:00:00Z'
const zeroMicroTime = '0001-01-01T00:00:00.000000Z'

/** Quantities in canonical form. Objects repeat few quantities, and each is decoded several times per write. */
const knownQuantities = new Set<string>()
const maxKnownQuantities = 4096

function canonicalQuantity(given: string): string {
  if (knownQuantities.has(given)) return given
  const canonical = parseQuantity(given.trim()).toString()
  if (knownQuantities.size >= maxKnownQuantities) knownQuantities.clear()
  knownQuantities.add(canonical)
  return canonical
}

function unlessZero(time: string, zero: string): string | null {
  return time === zero ? null : time
}

/** Any JSON, unchanged. */
const raw: GoCodec = {
  omittable: false,
  zero: () => null,
  decode: (value, state) => {
    if (state.counts) countMembers(value, state)
    return state.copiesRaw ? deepCopy(value) : value
  },
}

/** The set of fields of a manager: raw JSON that is never copied. */
const fieldSet: GoCodec = {
  ...raw,
  decode: (value, state) => {
    if (state.counts) countMembers(value, state)
    return value
  },
}

function countMembers(value: unknown, state: DecodeState): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) for (const item of value) countMembers(item, state)
  else {
    for (const key in value) {
      state.members++
      countMembers((value as Record<string, unknown>)[key], state)
    }
  }
}

function schemaOr(decode: (value: unknown, state: DecodeState) => unknown): GoCodec {
  return {
    omittable: false,
    zero: () => null,
    decode: (value, state) => (value === null ? null : decode(value, state)),
  }
}

/** The codecs of types with their own JSON form, by name. `codecOf` returns the codecs of the types that they contain. */
export function specialCodecs(codecOf: (type: string) => GoCodec): Readonly<Record<string, GoCodec>> {
  const schema = (value: unknown, state: DecodeState): unknown =>
    codecOf('apiextensions/v1.JSONSchemaProps').decode(value, state)
  return {
    'meta/v1.Time': own((value, state) => unlessZero(canonicalRFC3339(text(value, state)), zeroTime), null),
    'meta/v1.MicroTime': own((value, state) => unlessZero(canonicalMicroTime(text(value, state)), zeroMicroTime), null),
    'meta/v1.Duration': own((value, state) => formatDuration(parseDuration(text(value, state))), '0s'),
    'resource.Quantity': own((value) => {
      const isObject = typeof value === 'object' && !(value instanceof JsonFloat)
      return canonicalQuantity(isObject ? JSON.stringify(value) : literalOf(value))
    }, '0'),
    'intstr.IntOrString': own((value, state) => {
      if (typeof value === 'string') return value
      if (typeof value === 'number' && Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31) return value
      const isNumber = typeof value === 'number' || typeof value === 'bigint' || value instanceof JsonFloat
      const found = isNumber ? `number ${literalOf(value)}` : goJsonKind(value)
      throw new GoDecodeError(state.describe(found, 'int32'))
    }, 0),
    'meta/v1.FieldsV1': fieldSet,
    'runtime.RawExtension': raw,
    'runtime.Object': raw,
    'apiextensions/v1.JSON': raw,
    'apiextensions/v1.JSONSchemaPropsOrBool': schemaOr((value, state) => {
      if (typeof value === 'boolean') return value
      if (isJsonObject(value)) return schema(value, state)
      throw new GoDecodeError('boolean or JSON schema expected')
    }),
    'apiextensions/v1.JSONSchemaPropsOrArray': schemaOr((value, state) =>
      Array.isArray(value)
        ? value.map((item) => schema(item, state))
        : isJsonObject(value)
          ? schema(value, state)
          : null,
    ),
    'apiextensions/v1.JSONSchemaPropsOrStringArray': schemaOr((value, state) =>
      Array.isArray(value)
        ? codecOf('[]string').decode(value, state)
        : isJsonObject(value)
          ? schema(value, state)
          : null,
    ),
  }
}
