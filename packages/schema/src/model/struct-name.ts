import type { JSONSchemaProps } from './json-schema.ts'

/**
 * The property under which a built-in schema has the name of the Go struct that it describes. Not enumerable, because
 * Go names must not appear in published or copied schemas. Registered, so that packages share the symbol without
 * importing each other.
 */
const structNameKey: unique symbol = Symbol.for('kubewright.structName') as never

/** Returns the Go struct that a built-in schema describes, such as `PodSpec`, or `undefined` for any other schema. */
export function structName(schema: JSONSchemaProps): string | undefined {
  return (schema as { readonly [structNameKey]?: string | undefined })[structNameKey]
}
