import { isJsonObject, KubewrightError } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import type { JsonObject } from '../own-property.ts'
import { mergeTyped } from './merge-typed.ts'
import { objectTypeOf, type TypeNode } from './type-node.ts'
import { validateTyped } from './validate-typed.ts'

/**
 * Merges a configuration into an object as server-side apply does, without ownership of fields: nothing is removed. Throws a
 * KubewrightError if the configuration does not match the schema, or sets atomic lists or maps. Returns a new object, or the live one if
 * nothing changes.
 *
 * @param schema of the object; null if there is none
 */
export function mergeConfiguration(schema: JSONSchemaProps | null, live: JsonObject, config: JsonObject): JsonObject {
  const type = objectTypeOf(schema)
  try {
    validateTyped(type, config, false)
  } catch (error) {
    throw failure(`failed to convert patch object to typed object: ${(error as Error).message}`, error)
  }
  const atomics = atomicsIn(type, config, '')
  if (atomics.length > 0) {
    throw failure(`invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${atomics.join(', ')}`)
  }
  return mergeTyped(type, live, config) as JsonObject
}

function failure(message: string, cause?: unknown): KubewrightError {
  return new KubewrightError('KW_APPLY', message, { cause })
}

/** The paths of the atomic lists and maps of a value. */
function atomicsIn(type: TypeNode, value: unknown, path: string): string[] {
  if (Array.isArray(value)) {
    const { list } = type
    if (!list) return []
    const own = list.atomic ? [path] : []
    return [...own, ...value.flatMap((item, index) => atomicsIn(list.elementType, item, `${path}[${index}]`))]
  }
  if (!isJsonObject(value) || !type.map) return []
  const { map } = type
  const own = map.atomic ? [path] : []
  return [
    ...own,
    ...Object.entries(value).flatMap(([name, part]) => {
      const field = map.field(name)
      return field ? atomicsIn(field.type, part, `${path}.${name}`) : []
    }),
  ]
}
