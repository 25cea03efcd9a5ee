/** Throws a TypeError unless `value` is an array or a plain object, the only objects that JSON data contains. */
export function requirePlain(value: object, action: string): void {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return
  throw new TypeError(
    `Cannot ${action} ${value.constructor?.name ?? 'an object with a prototype'}: it is not JSON data`,
  )
}
