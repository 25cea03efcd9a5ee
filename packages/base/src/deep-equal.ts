/**
 * Reports whether two JSON values are equal. Key order does not matter. A property with the value undefined counts as
 * absent, as in JSON text. A bigint equals a number of the same mathematical value. Cyclic values are not supported.
 */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return scalarEqual(a, b)
  if (Array.isArray(a)) return Array.isArray(b) && arrayEqual(a, b)
  // Both are objects; only string keys count.
  return !Array.isArray(b) && objectEqual(a as Record<string, unknown>, b as Record<string, unknown>)
}

function arrayEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  const length = a.length
  if (length !== b.length) return false
  for (let i = 0; i < length; i++) {
    const left = a[i]
    const right = b[i]
    if (left !== right && !deepEqual(left, right)) return false
  }
  return true
}

function objectEqual(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  let surplus = 0
  for (const key in a) {
    const left = a[key]
    if (left === undefined) continue
    const right = b[key]
    if (left !== right && !deepEqual(left, right)) return false
    // An own `__proto__` property (JSON.parse creates them) must not match the other object's prototype.
    if (key === '__proto__' && !Object.hasOwn(b, key)) return false
    surplus++
  }
  for (const key in b) if (b[key] !== undefined) surplus--
  return surplus === 0
}

function scalarEqual(a: unknown, b: unknown): boolean {
  if (typeof a === 'number') {
    if (typeof b === 'number') return Number.isNaN(a) && Number.isNaN(b)
    return typeof b === 'bigint' && Number.isInteger(a) && BigInt(a) === b
  }
  return typeof a === 'bigint' && typeof b === 'number' && Number.isInteger(b) && BigInt(b) === a
}
