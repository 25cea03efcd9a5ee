import { codePointLength } from '@kubewright/base'
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
 * An `int` is a JS number if it is a safe integer, else a bigint. It is never a bigint in the safe range, so that `===`
 * compares ints. A JS number among CelValues is therefore always an int: doubles and uints are wrapped. Lists and maps
 * are views that read plain JSON in place.
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

/** A CEL `int`: see {@link CelValue}. */
export type CelInt = number | bigint

/** The smallest `int`. */
export const INT64_MIN: bigint = -(2n ** 63n)
/** The largest `int`. */
export const INT64_MAX: bigint = 2n ** 63n - 1n
/** The largest `uint`. */
export const UINT64_MAX: bigint = 2n ** 64n - 1n

/** Converts a bigint within int64 to an `int`: a number if that is exact. */
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

/** A CEL `bytes` value. Do not modify the array. */
export class CelBytes {
  readonly value: Uint8Array

  constructor(value: Uint8Array) {
    this.value = value
  }
}

/**
 * A point in time with nanosecond precision. Conversions and arithmetic check the range, years 1 to 9999; the
 * constructor does not.
 */
export class CelTimestamp {
  /** Whole seconds since 1970; negative before. */
  readonly seconds: number
  /** 0 to 999999999, counted forward from `seconds`. */
  readonly nanos: number
  /** The UTC offset in seconds used by the text form. Comparison ignores it. */
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

/** A value that may be absent, the result of `a.?b`. */
export class CelOptional {
  static readonly NONE: CelOptional = new CelOptional(undefined)
  /** `undefined` if absent. */
  readonly value: CelValue | undefined

  constructor(value: CelValue | undefined) {
    this.value = value
  }

  get hasValue(): boolean {
    return this.value !== undefined
  }
}

/** The base class of values that extension libraries define, such as `IP` or `Quantity`. */
export abstract class CelOpaque {
  /** The run-time type: the result of `type(x)`, and the type compared with declared argument types. */
  abstract readonly type: CelType

  /** Reports whether two values are equal. `other` may have any type. Throw a CelError for "no such overload". */
  abstract equals(other: CelValue): boolean

  /** Orders two values. Types without an order throw `no such overload`. */
  compare(_other: CelValue): number {
    throw noSuchOverload()
  }

  /** The size for cost tracking; `undefined` counts as 1. */
  get size(): number | undefined {
    return undefined
  }

  /** Whether `optional.ofNonZeroValue()` treats this value as absent. */
  get isZero(): boolean {
    return false
  }

  /** Returns the value of a field; `undefined` if there is no such field. */
  field(_name: string): CelValue | undefined {
    return undefined
  }

  /** Returns the plain JS value for {@link toNative}. */
  toNative(): unknown {
    return this
  }
}

/** Returns the run-time type of a value. Parameters of lists, maps and optionals are dyn. */
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

/** Returns the size of a value for cost tracking: characters, bytes, elements or entries; 1 for other values. */
export function actualSize(value: CelValue): number {
  if (typeof value === 'string') return codePointLength(value)
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof CelBytes) return value.value.length
  if (value instanceof CelOptional) return value.value === undefined ? 1 : actualSize(value.value)
  if (value instanceof CelOpaque) return value.size ?? 1
  if ('isList' in value) return value.size
  return 1
}
