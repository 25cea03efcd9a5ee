import { codePointLength } from '@kubewright/base'
import { CelError, checkListSize, noSuchOverload } from '../values/cel-error.ts'
import { CelList, CelMap } from '../values/collections.ts'
import {
  CelBytes,
  CelDouble,
  CelDuration,
  type CelInt,
  CelTimestamp,
  CelUint,
  type CelValue,
  INT64_MAX,
  INT64_MIN,
  intOf,
  UINT64_MAX,
} from '../values/values.ts'

/** `x + y` in int64. */
export function addInts(x: CelInt, y: CelInt): CelInt {
  if (typeof x === 'number' && typeof y === 'number') {
    const sum = x + y
    if (Number.isSafeInteger(sum)) return sum
  }
  return checkedInt(BigInt(x) + BigInt(y))
}

/** `x - y` in int64. */
export function subtractInts(x: CelInt, y: CelInt): CelInt {
  if (typeof x === 'number' && typeof y === 'number') {
    const difference = x - y
    if (Number.isSafeInteger(difference)) return difference
  }
  return checkedInt(BigInt(x) - BigInt(y))
}

/** `x * y` in int64. */
export function multiplyInts(x: CelInt, y: CelInt): CelInt {
  if (typeof x === 'number' && typeof y === 'number') {
    const product = x * y
    // Adding zero turns -0, which is not an int, into 0.
    if (Number.isSafeInteger(product)) return product + 0
  }
  return checkedInt(BigInt(x) * BigInt(y))
}

/** `x / y` in int64, rounded towards zero. */
export function divideInts(x: CelInt, y: CelInt): CelInt {
  if (y === 0) throw new CelError('division by zero')
  if (typeof x === 'number' && typeof y === 'number') return Math.trunc(x / y) + 0
  return checkedInt(BigInt(x) / BigInt(y))
}

/** `x % y` in int64, with the sign of `x`. */
export function moduloInts(x: CelInt, y: CelInt): CelInt {
  if (y === 0) throw new CelError('modulus by zero')
  if (typeof x === 'number' && typeof y === 'number') return (x % y) + 0
  const a = BigInt(x)
  if (a === INT64_MIN && y === -1) throw new CelError('integer overflow')
  return intOf(a % BigInt(y))
}

/** `-x` in int64. */
export function negateInt(x: CelInt): CelInt {
  return typeof x === 'number' ? 0 - x : checkedInt(-x)
}

function checkedInt(value: bigint): CelInt {
  if (value < INT64_MIN || value > INT64_MAX) throw new CelError('integer overflow')
  return intOf(value)
}

function checkedUint(value: bigint): CelUint {
  if (value < 0n || value > UINT64_MAX) throw new CelError('unsigned integer overflow')
  return new CelUint(value)
}

/** Returns a duration within int64 nanoseconds. Throws `duration overflow`. */
export function checkedDuration(nanos: bigint): CelDuration {
  if (nanos < INT64_MIN || nanos > INT64_MAX) throw new CelError('duration overflow')
  return new CelDuration(nanos)
}

const MIN_SECONDS = -62135596800
const MAX_SECONDS = 253402300799

/** Returns a timestamp between the years 1 and 9999. Throws `timestamp overflow`. */
export function checkedTimestamp(seconds: number, nanos: number, zone = 0): CelTimestamp {
  if (!(seconds >= MIN_SECONDS && seconds <= MAX_SECONDS)) throw new CelError('timestamp overflow')
  return new CelTimestamp(seconds, nanos, zone)
}

function isInt(v: CelValue): v is CelInt {
  return typeof v === 'number' || typeof v === 'bigint'
}

/**
 * Returns the error for an operator that the type of the left operand does not support. For some types, cel-go's
 * message lacks the operator.
 */
function unsupported(fn: string, left: CelValue): CelError {
  const isReceiver = typeof left === 'string' || left instanceof CelDuration || left instanceof CelTimestamp
  return isReceiver ? noSuchOverload() : new CelError(`no such overload: ${fn}`)
}

function shift(t: CelTimestamp, nanos: bigint): CelTimestamp {
  const total = BigInt(t.nanos) + nanos
  const carry = (total - (((total % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n)) / 1_000_000_000n
  return checkedTimestamp(t.seconds + Number(carry), Number(total - carry * 1_000_000_000n), t.zone)
}

/** `a + b` for any values. */
export function add(a: CelValue, b: CelValue): CelValue {
  if (isInt(a)) {
    if (isInt(b)) return addInts(a, b)
  } else if (typeof a === 'string') {
    if (typeof b === 'string') return a + b
  } else if (a instanceof CelList) {
    if (b instanceof CelList) {
      checkListSize(a.size + b.size)
      return a.concat(b)
    }
  } else if (a instanceof CelDouble) {
    if (b instanceof CelDouble) return new CelDouble(a.value + b.value)
  } else if (a instanceof CelUint) {
    if (b instanceof CelUint) return checkedUint(a.value + b.value)
  } else if (a instanceof CelDuration) {
    if (b instanceof CelDuration) return checkedDuration(a.nanos + b.nanos)
    if (b instanceof CelTimestamp) return shift(b, a.nanos)
  } else if (a instanceof CelTimestamp) {
    if (b instanceof CelDuration) return shift(a, b.nanos)
  } else if (a instanceof CelBytes) {
    if (b instanceof CelBytes) return concatBytes(a.value, b.value)
  } else {
    throw unsupported('_+_', a)
  }
  throw noSuchOverload()
}

function concatBytes(a: Uint8Array, b: Uint8Array): CelBytes {
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return new CelBytes(bytes)
}

/** `a - b` for any values. */
export function subtract(a: CelValue, b: CelValue): CelValue {
  if (isInt(a)) {
    if (isInt(b)) return subtractInts(a, b)
  } else if (a instanceof CelDouble) {
    if (b instanceof CelDouble) return new CelDouble(a.value - b.value)
  } else if (a instanceof CelUint) {
    if (b instanceof CelUint) return checkedUint(a.value - b.value)
  } else if (a instanceof CelDuration) {
    if (b instanceof CelDuration) return checkedDuration(a.nanos - b.nanos)
  } else if (a instanceof CelTimestamp) {
    if (b instanceof CelDuration) return shift(a, -b.nanos)
    if (b instanceof CelTimestamp) {
      return checkedDuration(BigInt(a.seconds - b.seconds) * 1_000_000_000n + BigInt(a.nanos - b.nanos))
    }
  } else {
    throw unsupported('_-_', a)
  }
  throw noSuchOverload()
}

/** `a * b` for any values. */
export function multiply(a: CelValue, b: CelValue): CelValue {
  if (isInt(a)) {
    if (isInt(b)) return multiplyInts(a, b)
  } else if (a instanceof CelDouble) {
    if (b instanceof CelDouble) return new CelDouble(a.value * b.value)
  } else if (a instanceof CelUint) {
    if (b instanceof CelUint) return checkedUint(a.value * b.value)
  } else {
    throw unsupported('_*_', a)
  }
  throw noSuchOverload()
}

/** `a / b` for any values. */
export function divide(a: CelValue, b: CelValue): CelValue {
  if (isInt(a)) {
    if (isInt(b)) return divideInts(a, b)
  } else if (a instanceof CelDouble) {
    if (b instanceof CelDouble) return new CelDouble(a.value / b.value)
  } else if (a instanceof CelUint) {
    if (b instanceof CelUint) {
      if (b.value === 0n) throw new CelError('division by zero')
      return new CelUint(a.value / b.value)
    }
  } else {
    throw unsupported('_/_', a)
  }
  throw noSuchOverload()
}

/** `a % b` for any values. */
export function modulo(a: CelValue, b: CelValue): CelValue {
  if (isInt(a)) {
    if (isInt(b)) return moduloInts(a, b)
  } else if (a instanceof CelUint) {
    if (b instanceof CelUint) {
      if (b.value === 0n) throw new CelError('modulus by zero')
      return new CelUint(a.value % b.value)
    }
  } else {
    throw unsupported('_%_', a)
  }
  throw noSuchOverload()
}

/** `-a` for any value. */
export function negate(a: CelValue): CelValue {
  if (isInt(a)) return negateInt(a)
  if (a instanceof CelDouble) return new CelDouble(-a.value)
  if (a instanceof CelDuration) return checkedDuration(-a.nanos)
  throw unsupported('-_', a)
}

/** `size(a)`. */
export function sizeOf(a: CelValue): number {
  if (typeof a === 'string') return codePointLength(a)
  if (a instanceof CelList || a instanceof CelMap) return a.size
  if (a instanceof CelBytes) return a.value.length
  throw new CelError('no such overload: size')
}

/** `a in b`. */
export function isIn(a: CelValue, b: CelValue): boolean {
  if (b instanceof CelList) return b.contains(a)
  if (b instanceof CelMap) return b.get(a) !== undefined
  throw noSuchOverload()
}
