/** Formats a value of a manifest as JSON. Integers beyond 2^53 are bigints, which `JSON.stringify` rejects; they keep their digits. */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, (_, item: unknown) => (typeof item === 'bigint' ? `\0${item}` : item), indent)
  return text === undefined ? 'null' : text.replaceAll(/"\\u0000(-?\d+)"/g, '$1')
}
