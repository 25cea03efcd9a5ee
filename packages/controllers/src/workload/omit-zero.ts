/** A copy without members that are undefined, zero, empty text or an empty list: what Go's `omitempty` leaves out of JSON. */
export function omitZero<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  const result: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined || item === 0 || item === '') continue
    if (Array.isArray(item) && item.length === 0) continue
    result[key] = item
  }
  // Only members whose type allows absence are left out by the callers' types.
  return result as T
}

/** A copy without members that are undefined. */
export function omitUndefined<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  const result: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) if (item !== undefined) result[key] = item
  return result as T
}
