import type { JSONSchemaProps } from './json-schema.ts'

/**
 * Under which built-in schemas carry the name of the Go struct that they describe. Not enumerable, because names of Go types mean nothing
 * where schemas are published or copied to; registered, so that packages share it without loading each other.
 */
const structNameKey: unique symbol = Symbol.for('kubewright.structName') as never

/** The Go struct that a built-in schema describes, such as `PodSpec`; undefined when it is none, or not a built-in one. */
export function structName(schema: JSONSchemaProps): string | undefined {
  return (schema as { readonly [structNameKey]?: string })[structNameKey]
}
