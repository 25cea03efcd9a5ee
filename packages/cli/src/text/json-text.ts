/**
 * Prints a value that was read from a manifest as JSON, whole numbers beyond 2^53 as they were written: those are bigints, which
 * `JSON.stringify` refuses.
 */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `\0${item}` : item), indent)
  return text === undefined ? 'null' : text.replaceAll(/"\\u0000(-?\d+)"/g, '$1')
}
