/** A JSON object whose values nobody looked at yet. */
export type JsonObject = { readonly [key: string]: unknown }

/** True for a JSON object: neither null, nor an array, nor a scalar. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The property that the object itself has; what its prototype has (`constructor`, `__proto__`) does not count. */
export function getOwn(object: JsonObject, key: string): unknown {
  const value = object[key]
  // Object.prototype has functions and `__proto__` only, so that the slow question is rarely asked.
  if (value === undefined || (typeof value !== 'function' && key !== '__proto__')) return value
  return Object.hasOwn(object, key) ? value : undefined
}

/** Sets a property of the object itself, also one called `__proto__`, which assignment would take for the prototype. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

/** An object of any type, looked at as JSON; an interface has no index signature, yet it names properties all the same. */
export function asJson(object: object): JsonObject {
  return object as JsonObject
}
