import { isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import type { JsonObject } from '../own-property.ts'

/**
 * A built-in object before anything is set: the structs and required fields that Kubernetes always encodes. Ownership
 * on create is the difference to this object; for example, creating a Deployment does not own `.spec.strategy` itself.
 * Structs are recognised by their default `{}`. Custom resources have no such fields, so the result is only apiVersion
 * and kind.
 */
export function zeroObject(apiVersion: string, kind: string, schema: JSONSchemaProps): JsonObject {
  return { apiVersion, kind, ...zeroFields(schema) }
}

function zeroFields(schema: JSONSchemaProps): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const target = schema.properties === undefined && schema.allOf?.length === 1 ? schema.allOf[0] : schema
  const properties = target?.properties
  if (properties === undefined) return fields
  const required = new Set(target?.required)
  for (const name of Object.keys(properties)) {
    const property = properties[name] as JSONSchemaProps
    if (isEmptyObject(property.default)) fields[name] = zeroFields(property)
    else if (required.has(name)) fields[name] = property.default ?? null
  }
  return fields
}

function isEmptyObject(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0
}
