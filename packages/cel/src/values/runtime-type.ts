import { CelType } from './cel-type.ts'
import { CelList, CelMap } from './collections.ts'
import { CelOpaque, CelOptional, type CelValue, typeOf } from './values.ts'

/**
 * Reports whether a value may be passed for a declared argument type. Only the first element of lists and maps is
 * checked.
 */
export function matchesType(value: CelValue, type: CelType): boolean {
  switch (type.kind) {
    case 'dyn':
    case 'any':
    case 'typeParam':
      return true
    case 'list':
      return value instanceof CelList && (value.size === 0 || matchesType(value.at(0), type.params[0]!))
    case 'map': {
      if (!(value instanceof CelMap)) return false
      for (const key of value.keys()) {
        return matchesType(key, type.params[0]!) && matchesType(value.get(key) ?? null, type.params[1]!)
      }
      return true
    }
    case 'opaque':
      if (value instanceof CelOptional) return type.name === 'optional_type'
      return value instanceof CelOpaque && value.type.name === type.name
    case 'struct':
      return value instanceof CelMap || (value instanceof CelOpaque && value.type.name === type.name)
    case 'type':
      return value instanceof CelType
    default:
      return typeOf(value).kind === type.kind
  }
}
