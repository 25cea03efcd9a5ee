/** A JSON object with unchecked values. */
export type JsonObject = { readonly [key: string]: unknown }

/** The object's own property. Inherited ones such as `constructor` and `__proto__` give undefined. */
export function getOwn(object: JsonObject, key: string): unknown {
  const value = object[key]
  // Object.prototype has only functions and `__proto__`, so the slower hasOwn check is rarely needed.
  if (value === undefined || (typeof value !== 'function' && key !== '__proto__')) return value
  return Object.hasOwn(object, key) ? value : undefined
}

/** Sets an own property. Also works for `__proto__`, where assignment would set the prototype. */
export function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') object[key] = value
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Views an object of any type as JSON. Needed for interfaces, which have no index signature. */
export function asJson(object: object): JsonObject {
  return object as JsonObject
}
