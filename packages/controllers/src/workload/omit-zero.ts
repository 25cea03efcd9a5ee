/**
 * Copies an object without members that are undefined, zero, an empty string or an empty list, like Go's `omitempty`.
 */
export function omitZero<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  const result: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined || item === 0 || item === '') continue
    if (Array.isArray(item) && item.length === 0) continue
    result[key] = item
  }
  // Callers' types make every member optional that can be zero, so the result is still a T.
  return result as T
}
