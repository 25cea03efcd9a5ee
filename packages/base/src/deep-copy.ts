import type { DeepMutable } from './deep-readonly.ts'
import { requirePlain } from './internal/require-plain.ts'

/**
 * A mutable copy of a JSON value that shares no object or array with it. Anything that is neither an array nor a plain object
 * (a Date, a Map, a class instance) is a TypeError: it would not survive the way to the API server either.
 */
export function deepCopy<T>(value: T): DeepMutable<T> {
  // The copy has the structure of the original, without what made it read-only.
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

// Assignment would set the prototype instead of the property that JSON.parse makes of this key.
function defineProto(target: object, value: unknown): void {
  Object.defineProperty(target, '__proto__', { value, writable: true, enumerable: true, configurable: true })
}
