import { goQuote } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { goValue, structName } from '@kubewright/schema'
import { PatchError } from '../patch-error.ts'

/** The merge rules of a field and the schema of its contents. */
export interface PatchMeta {
  /** The schema of the object in the field, or of the items of the list in it. */
  readonly schema: JSONSchemaProps
  /** `merge`, `replace` or empty. */
  readonly strategy: string
  /** True when the strategy includes `retainKeys`, so that patches list the fields to keep. */
  readonly retainKeys: boolean
  /** The field that identifies items of a list; empty for lists of scalars. */
  readonly mergeKey: string
}

const structs = new WeakMap<JSONSchemaProps, Map<string, PatchMeta>>()
const lists = new WeakMap<JSONSchemaProps, Map<string, PatchMeta>>()

function cached(
  cache: WeakMap<JSONSchemaProps, Map<string, PatchMeta>>,
  schema: JSONSchemaProps,
  key: string,
  make: () => PatchMeta,
): PatchMeta {
  let fields = cache.get(schema)
  if (fields === undefined) cache.set(schema, (fields = new Map()))
  let meta = fields.get(key)
  if (meta === undefined) fields.set(key, (meta = make()))
  return meta
}

/** The merge rules of an object field. Throws PatchError when the schema has no such field. */
export function structMeta(schema: JSONSchemaProps, key: string): PatchMeta {
  return cached(structs, schema, key, () => metaOf(fieldOf(schema, key)))
}

/** The merge rules of a list field. Throws PatchError when the schema has no such field. */
export function listMeta(schema: JSONSchemaProps, key: string): PatchMeta {
  return cached(lists, schema, key, () => {
    const field = fieldOf(schema, key)
    const { items } = resolved(field)
    if (items && resolved(items).type === 'array') throw new PatchError('unexpected slice of slice')
    return { ...metaOf(field), schema: items ?? field }
  })
}

/** Follows the reference of a built-in schema, which may refer to its type in a one-element allOf. */
function resolved(schema: JSONSchemaProps): JSONSchemaProps {
  const [referred] = schema.allOf ?? []
  return schema.type === undefined && schema.properties === undefined && referred !== undefined ? referred : schema
}

function fieldOf(schema: JSONSchemaProps, key: string): JSONSchemaProps {
  const struct = resolved(schema)
  const { properties, additionalProperties, type } = struct
  if (properties && Object.hasOwn(properties, key)) return properties[key] as JSONSchemaProps
  if (properties === undefined) {
    const kind = additionalProperties || type === 'object' ? 'map' : (type ?? 'interface')
    throw new PatchError(`merging an object in json but data type is not struct, instead is: ${kind}`)
  }
  // Go matches field names case-insensitively.
  const folded = Object.keys(properties).find((name) => name.toLowerCase() === key.toLowerCase())
  if (folded !== undefined) return properties[folded] as JSONSchemaProps
  const name = structName(struct) ?? ''
  throw new PatchError(`unable to find api field in struct ${name} for the json field ${goQuote(key)}`)
}

function metaOf(field: JSONSchemaProps): PatchMeta {
  const strategies = (field['x-kubernetes-patch-strategy'] ?? '').split(',')
  const retainKeys = strategies.includes('retainKeys')
  const others = strategies.filter((strategy) => strategy !== 'retainKeys')
  if (strategies.length > 2 || others.length > 1) {
    throw new PatchError(`unexpected patch strategy: ${goValue(strategies)}`)
  }
  return { schema: field, strategy: others[0] ?? '', retainKeys, mergeKey: field['x-kubernetes-patch-merge-key'] ?? '' }
}
