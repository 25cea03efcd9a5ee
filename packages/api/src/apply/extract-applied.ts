import { isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { FieldSet } from '../fieldset/field-set.ts'
import type { ManagedFieldsEntry } from '../object-meta.ts'
import { asJson, getOwn, type JsonObject } from '../own-property.ts'
import { extractItems } from './remove-items.ts'
import { objectTypeOf } from './type-node.ts'

/**
 * The fields that the manager applied to the object and still owns, as a configuration that can be changed and applied
 * again. Undefined when the manager owns nothing.
 */
export function extractApplied(
  live: object,
  schema: JSONSchemaProps | null,
  manager: string,
  subresource = '',
): JsonObject | undefined {
  const object = asJson(live)
  const metadata = getOwn(object, 'metadata')
  if (!isJsonObject(metadata) || !Array.isArray(metadata['managedFields'])) return undefined
  const entry = (metadata['managedFields'] as readonly ManagedFieldsEntry[]).find(
    (candidate) =>
      candidate.manager === manager && candidate.operation === 'Apply' && (candidate.subresource ?? '') === subresource,
  )
  if (entry === undefined) return undefined
  const extracted = extractItems(objectTypeOf(schema), object, FieldSet.parse(entry.fieldsV1))
  const fields = isJsonObject(extracted) ? extracted : {}
  const { name, namespace } = metadata
  return {
    ...fields,
    apiVersion: object['apiVersion'],
    kind: object['kind'],
    metadata: {
      ...(isJsonObject(fields['metadata']) ? fields['metadata'] : {}),
      name,
      ...(namespace !== undefined && { namespace }),
    },
  }
}
