import { compareUtf8 } from '@kubewright/base'
import { CelError, noSuchOverload } from './cel-error.ts'
import { CelType } from './cel-type.ts'
import type { CelList } from './collections.ts'
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

/** `a == b`. Numbers are equal by value across numeric types; other values of different types are unequal. */
export function celEquals(a: CelValue, b: CelValue): boolean {
  if (a === b) return !(a instanceof CelDouble && Number.isNaN(a.value))
  switch (typeof a) {
    case 'string':
    case 'boolean':
      return false
    case 'number':
    case 'bigint':
      return isNumeric(b) && typeof b === 'object' && numericEquals(a, b)
  }
  if (a === null || b === null) return false
  // Lists and maps are recognised by `isList`, not by class: their module imports this one.
  if ('isList' in a) return a.isList ? listEquals(a, b) : a.equals(b)
  if (a instanceof CelDouble || a instanceof CelUint) return isNumeric(b) && numericEquals(a, b)
  if (a instanceof CelTimestamp) return b instanceof CelTimestamp && a.seconds === b.seconds && a.nanos === b.nanos
  if (a instanceof CelDuration) return b instanceof CelDuration && a.nanos === b.nanos
  if (a instanceof CelBytes) return b instanceof CelBytes && compareBytes(a.value, b.value) === 0
  if (a instanceof CelType) return b instanceof CelType && a.name === b.name && a.kind === b.kind
  if (a instanceof CelOptional) {
    if (!(b instanceof CelOptional)) return false
    if (a.value === undefined || b.value === undefined) return a.value === b.value
    return celEquals(a.value, b.value)
  }
  return a.equals(b)
}

function listEquals(a: CelList, b: CelValue): boolean {
  if (typeof b !== 'object' || b === null || !('isList' in b) || !b.isList) return a.equalsOther(b)
  return a.equalsList(b)
}

type Numeric = number | bigint | CelDouble | CelUint

function isNumeric(v: CelValue): v is Numeric {
  return typeof v === 'number' || typeof v === 'bigint' || v instanceof CelDouble || v instanceof CelUint
}

function numericEquals(a: Numeric, b: Numeric): boolean {
  const x = a instanceof CelDouble || a instanceof CelUint ? a.value : a
  const y = b instanceof CelDouble || b instanceof CelUint ? b.value : b
  // Loose equality compares a bigint with a number exactly, by mathematical value.
  // biome-ignore lint/suspicious/noDoubleEquals: compares a bigint with a number
  return x == y
}

/**
 * Orders two values: negative, zero or positive. Throws `no such overload` for values without a common order, and `NaN
 * values cannot be ordered`.
 */
export function celCompare(a: CelValue, b: CelValue): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0
  if (typeof a === 'string') {
    if (typeof b !== 'string') throw noSuchOverload()
    return compareUtf8(a, b)
  }
  if (isNumeric(a)) {
    if (!isNumeric(b)) throw noSuchOverload()
    return compareNumeric(a, b)
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return a === b ? 0 : a ? 1 : -1
  if (a instanceof CelTimestamp && b instanceof CelTimestamp) return a.seconds - b.seconds || a.nanos - b.nanos
  if (a instanceof CelDuration && b instanceof CelDuration) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0
  if (a instanceof CelBytes && b instanceof CelBytes) return compareBytes(a.value, b.value)
  if (a instanceof CelOpaque) return a.compare(b)
  throw noSuchOverload()
}

function compareNumeric(a: Numeric, b: Numeric): number {
  const x = a instanceof CelDouble || a instanceof CelUint ? a.value : a
  const y = b instanceof CelDouble || b instanceof CelUint ? b.value : b
  if (Number.isNaN(x) || Number.isNaN(y)) throw new CelError('NaN values cannot be ordered')
  return x < y ? -1 : x > y ? 1 : 0
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    if (a[i] !== b[i]) return a[i]! - b[i]!
  }
  return a.length - b.length
}
