/** Returns the message of an error, or the value as text: `throw` accepts values that are not errors. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
