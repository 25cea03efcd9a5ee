import type { DeepReadonly } from './deep-readonly.ts'

/**
 * Freezes a JSON value in place, at every depth, and returns it. A part that is already frozen is assumed to be deeply
 * frozen and is not visited, which keeps freezing cheap for values that share structure.
 */
export function deepFreeze<T>(value: T): DeepReadonly<T> {
  freeze(value)
  return value as DeepReadonly<T>
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) freeze(value[i])
    return
  }
  const source = value as Record<string, unknown>
  for (const key in source) freeze(source[key])
}
