/** Reports whether a JSON value is an object: neither null, nor a list, nor a scalar. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value if it is a string, else the empty string: the zero value of a Go field. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The strings of a JSON list; empty for any other value. */
export function textsOf(value: unknown): string[] {
  return asList(value).filter((item) => typeof item === 'string')
}

/** The value if it is a list, else an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value if it is a JSON object, else an empty one. */
export function asJsonObject(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {}
}
