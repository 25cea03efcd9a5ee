import { CelType } from './cel-type.ts'
import { CelList, CelMap } from './collections.ts'
import {
  CelBytes,
  CelDouble,
  CelDuration,
  CelOpaque,
  CelOptional,
  CelTimestamp,
  CelUint,
  type CelValue,
  intOf,
} from './values.ts'

/** A JSON array without a schema, as a CEL list. */
class JsonList extends CelList {
  readonly json: readonly unknown[]

  constructor(json: readonly unknown[]) {
    super()
    this.json = json
  }

  get size(): number {
    return this.json.length
  }

  at(index: number): CelValue {
    return fromNative(this.json[index])
  }
}

/** A JSON object without a schema, as a CEL map. */
class JsonMap extends CelMap {
  readonly json: Readonly<Record<string, unknown>>

  constructor(json: Readonly<Record<string, unknown>>) {
    super()
    this.json = json
  }

  get size(): number {
    return Object.keys(this.json).length
  }

  get(key: CelValue): CelValue | undefined {
    return typeof key === 'string' && Object.hasOwn(this.json, key) ? fromNative(this.json[key]) : undefined
  }

  keys(): Iterable<CelValue> {
    return Object.keys(this.json)
  }
}

/**
 * Converts a plain JS value to a CEL value. Whole numbers within int64 become ints, other numbers doubles. Arrays and
 * objects are viewed in place. CEL values are returned unchanged.
 */
export function fromNative(value: unknown): CelValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      if (Number.isSafeInteger(value)) return value + 0
      return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value) : new CelDouble(value)
    case 'bigint':
      return intOf(value)
    case 'undefined':
      return null
    case 'object':
      if (value === null) return null
      if (Array.isArray(value)) return new JsonList(value)
      if (isCelObject(value)) return value
      if (value instanceof Uint8Array) return new CelBytes(value)
      return new JsonMap(value as Record<string, unknown>)
    default:
      throw new TypeError(`Cannot use a ${typeof value} as a CEL value: pass JSON data or CEL values`)
  }
}

type CelObject = Extract<CelValue, object>

function isCelObject(value: object): value is CelObject {
  return (
    value instanceof CelList ||
    value instanceof CelMap ||
    value instanceof CelDouble ||
    value instanceof CelUint ||
    value instanceof CelBytes ||
    value instanceof CelTimestamp ||
    value instanceof CelDuration ||
    value instanceof CelOptional ||
    value instanceof CelOpaque ||
    value instanceof CelType
  )
}
