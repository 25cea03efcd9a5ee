import { noSuchOverload } from './cel-error.ts'
import {
  BOOL,
  BYTES,
  CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  LIST_OF_DYN,
  MAP_OF_DYN,
  NULL,
  optionalType,
  STRING,
  TIMESTAMP,
  TYPE,
  UINT,
} from './cel-type.ts'
import type { CelList, CelMap } from './collections.ts'

/**
 * A CEL value during evaluation.
 *
 * An `int` is a JS number when it is a safe integer and a bigint otherwise (never a bigint in the safe range, so `===` compares
 * ints); a JS number among CelValues is therefore always an int. Doubles and uints are wrapped. Lists and maps are views which
 * read plain JSON in place.
 */
export type CelValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | CelDouble
  | CelUint
  | CelBytes
  | CelTimestamp
  | CelDuration
  | CelList
  | CelMap
  | CelOptional
  | CelOpaque
  | CelType

/** A CEL `int` as a value: see {@link CelValue}. */
export type CelInt = number | bigint

/** The smallest `int`. */
export const INT64_MIN: bigint = -(2n ** 63n)
/** The largest `int`. */
export const INT64_MAX: bigint = 2n ** 63n - 1n
/** The largest `uint`. */
export const UINT64_MAX: bigint = 2n ** 64n - 1n

/** The `int` for a bigint within int64: a number whenever that is exact. */
export function intOf(value: bigint): CelInt {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value
}

/** A CEL `double`. */
export class CelDouble {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }
}

/** A CEL `uint`, between 0 and 2^64-1. */
export class CelUint {
  readonly value: bigint

  constructor(value: bigint) {
    this.value = value
  }
}

/** A CEL `bytes` value; the array must not be changed. */
export class CelBytes {
  readonly value: Uint8Array

  constructor(value: Uint8Array) {
    this.value = value
  }
}

/** A point in time with nanoseconds, between the years 1 and 9999 (checked where values are made). */
export class CelTimestamp {
  /** Whole seconds since 1970, negative before. */
  readonly seconds: number
  /** 0 to 999999999, counted forward from `seconds`. */
  readonly nanos: number
  /** The offset from UTC in seconds that the text form shows; comparison ignores it. */
  readonly zone: number

  constructor(seconds: number, nanos: number, zone = 0) {
    this.seconds = seconds
    this.nanos = nanos
    this.zone = zone
  }
}

/** A length of time in nanoseconds, within int64. */
export class CelDuration {
  readonly nanos: bigint

  constructor(nanos: bigint) {
    this.nanos = nanos
  }
}

/** A value that may be absent, as `a.?b` yields. */
export class CelOptional {
  static readonly NONE: CelOptional = new CelOptional(undefined)
  /** `undefined` when there is none. */
  readonly value: CelValue | undefined

  constructor(value: CelValue | undefined) {
    this.value = value
  }

  get hasValue(): boolean {
    return this.value !== undefined
  }
}

/** The base of values that extension libraries define, such as `IP` or `Quantity`. */
export abstract class CelOpaque {
  /** The runtime type: what `type(x)` yields and what overload dispatch compares with the declared argument types. */
  abstract readonly type: CelType

  /** Whether two values are equal; called only with a value of any other type or the same. Throw a CelError for "no such overload". */
  abstract equals(other: CelValue): boolean

  /** The order of two values; types without an order throw `no such overload`. */
  compare(_other: CelValue): number {
    throw noSuchOverload()
  }

  /** What `size()` would say, for cost tracking only; `undefined` counts as 1. */
  get size(): number | undefined {
    return undefined
  }

  /** Whether this is the type's zero value, as `optional.ofNonZeroValue()` asks. */
  get isZero(): boolean {
    return false
  }

  /** The value of a field, if the type has fields; `undefined` means no such field. */
  field(_name: string): CelValue | undefined {
    return undefined
  }

  /** The plain JS value that {@link toNative} hands out. */
  toNative(): unknown {
    return this
  }
}

/** The runtime type of a value; parameters of lists, maps and optionals are dyn. */
export function typeOf(value: CelValue): CelType {
  switch (typeof value) {
    case 'boolean':
      return BOOL
    case 'number':
    case 'bigint':
      return INT
    case 'string':
      return STRING
  }
  if (value === null) return NULL
  if (value instanceof CelType) return TYPE
  if (value instanceof CelDouble) return DOUBLE
  if (value instanceof CelUint) return UINT
  if (value instanceof CelBytes) return BYTES
  if (value instanceof CelTimestamp) return TIMESTAMP
  if (value instanceof CelDuration) return DURATION
  if (value instanceof CelOptional) return OPTIONAL_OF_DYN
  if (value instanceof CelOpaque) return value.type
  return value.isList ? LIST_OF_DYN : MAP_OF_DYN
}

const OPTIONAL_OF_DYN: CelType = optionalType(DYN)

/** The number of code points of a string, which is CEL's size of it. */
export function codePointLength(text: string): number {
  let count = text.length
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next <= 0xdfff) {
        count--
        i++
      }
    }
  }
  return count
}

/** The size that cost tracking counts for a value: characters, bytes, elements or entries; 1 for all else. */
export function actualSize(value: CelValue): number {
  if (typeof value === 'string') return codePointLength(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof CelBytes) return value.value.length
  if (value instanceof CelOptional) return value.value === undefined ? 1 : actualSize(value.value)
  if (value instanceof CelOpaque) return value.size ?? 1
  if ('isList' in value) return value.size
  return 1
}
