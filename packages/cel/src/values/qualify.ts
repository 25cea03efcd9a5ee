import { CelError } from './cel-error.ts'
import { CelList, CelMap } from './collections.ts'
import { formatG } from './go-number.ts'
import { CelDouble, CelOpaque, CelOptional, CelUint, type CelValue, typeOf } from './values.ts'

/** Formats a key or index for error messages. */
export function printKey(key: CelValue): string {
  if (key instanceof CelDouble) return formatG(key.value)
  if (key instanceof CelUint) return String(key.value)
  return String(key)
}

/** Converts an index value to an integer. Throws like cel-go's IndexOrError. */
function listIndex(index: CelValue): number {
  if (typeof index === 'number') return index
  if (typeof index === 'bigint') return Number(index)
  if (index instanceof CelUint) return Number(index.value)
  if (index instanceof CelDouble) {
    if (Number.isInteger(index.value)) return index.value
    throw new CelError(`unsupported index value ${printKey(index)} in list`)
  }
  throw new CelError(`unsupported index type '${typeOf(index).name}' in list`)
}

/** Returns `value[key]` or `value.key`, or `undefined` if there is no such element, entry or field. */
export function find(value: CelValue, key: CelValue): CelValue | undefined {
  if (value instanceof CelMap) return value.get(key)
  if (value instanceof CelList) {
    const index = listIndex(key)
    return index >= 0 && index < value.size ? value.at(index) : undefined
  }
  if (value instanceof CelOpaque && typeof key === 'string') return value.field(key)
  return undefined
}

/** Returns the message for a missing element, entry or field. */
export function missingMessage(value: CelValue, key: CelValue): string {
  return value instanceof CelList ? `index out of bounds: ${printKey(key)}` : `no such key: ${printKey(key)}`
}

/** `value[?key]` or `value.?key`. */
export function qualifyOptional(value: CelValue, key: CelValue): CelOptional {
  const inner = value instanceof CelOptional ? value.value : value
  if (inner === undefined) return CelOptional.NONE
  const found = find(inner, key)
  return found === undefined ? CelOptional.NONE : new CelOptional(found)
}

/** `has(value.field)`. */
export function isPresent(value: CelValue, field: string): boolean {
  const inner = value instanceof CelOptional ? value.value : value
  return inner !== undefined && find(inner, field) !== undefined
}
