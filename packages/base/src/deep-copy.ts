import type { DeepMutable } from './deep-readonly.ts'
import { requirePlain } from './internal/require-plain.ts'

/**
 * Returns a mutable copy of a JSON value that shares no object or array with the original. Values that are neither
 * arrays nor plain objects (a Date, a Map, a class instance) throw a TypeError, because they could not be sent to an
 * API server either.
 */
export function deepCopy<T>(value: T): DeepMutable<T> {
  // The copy has the structure of the original; only the readonly modifiers differ.
  return copy(value) as DeepMutable<T>
}

function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const length = value.length
    const result: unknown[] = new Array(length)
    for (let i = 0; i < length; i++) {
      const item: unknown = value[i]
      result[i] = typeof item === 'object' && item !== null ? copy(item) : item
    }
    return result
  }
  requirePlain(value, 'copy')
  const source = value as Record<string, unknown>
  const result: Record<string, unknown> = {}
  for (const key in source) {
    const item = source[key]
    const copied = typeof item === 'object' && item !== null ? copy(item) : item
    if (key === '__proto__') defineProto(result, copied)
    else result[key] = copied
  }
  return result
}

// JSON.parse creates an own property for the key `__proto__`; an assignment would set the prototype instead.
function defineProto(target: object, value: unknown): void {
  Object.defineProperty(target, '__proto__', { value, writable: true, enumerable: true, configurable: true })
}
