import { CelError } from '../cel-error.ts'
import { CelList, CelMap } from '../collections.ts'
import { CelDouble, CelOpaque, CelOptional, CelUint, type CelValue, typeOf } from '../values.ts'
import { formatG } from './go-number.ts'

/** A key or index as error messages print it. */
export function printKey(key: CelValue): string {
  if (key instanceof CelDouble) return formatG(key.value)
  if (key instanceof CelUint) return String(key.value)
  return String(key)
}

/** The integer that an index value stands for; throws as cel-go's IndexOrError does. */
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

/** `value[key]` or `value.key` if there is such an element, entry or field. */
export function find(value: CelValue, key: CelValue): CelValue | undefined {
  if (value instanceof CelMap) return value.get(key)
  if (value instanceof CelList) {
    const index = listIndex(key)
    return index >= 0 && index < value.size ? value.at(index) : undefined
  }
  if (value instanceof CelOpaque && typeof key === 'string') return value.field(key)
  return undefined
}

/** The message for an element, entry or field that is not there. */
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
