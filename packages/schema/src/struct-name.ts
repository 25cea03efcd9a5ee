import type { JSONSchemaProps } from './json-schema.ts'

// Beside the schemas instead of in them: they are published and copied into others, where names of Go types mean nothing.
const names = new WeakMap<JSONSchemaProps, string>()

/** Notes which Go struct a built-in schema describes, for error texts that name it. */
export function setStructName(schema: JSONSchemaProps, name: string): void {
  names.set(schema, name)
}

/** The Go struct that a built-in schema describes, such as `PodSpec`; undefined when it is none, or not a built-in one. */
export function structName(schema: JSONSchemaProps): string | undefined {
  return names.get(schema)
}
