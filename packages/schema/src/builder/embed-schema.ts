import type { JSONSchemaProps } from '../model/json-schema.ts'
import { structName } from '../model/struct-name.ts'
import { intOrStringJson, quantityJson } from './well-known.ts'

/** How `s.from` converts a built-in schema to a structural one. */
export interface EmbedOptions {
  /**
   * The definitions that `$ref` refers to, keyed by the part after the last slash. @default none; a `$ref` is an error
   */
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>> | undefined
}

const dropped = new Set<string>([
  '$ref',
  'default',
  'items',
  'properties',
  'additionalProperties',
  'allOf',
  'oneOf',
  'x-kubernetes-patch-strategy',
  'x-kubernetes-patch-merge-key',
  'x-kubernetes-group-version-kind',
  'x-kubernetes-unions',
])
// The metadata that controller-gen keeps with generateEmbeddedObjectMeta. The rest applies to stored objects only.
const templateMetadata = new Set(['annotations', 'finalizers', 'labels', 'name', 'namespace'])

/**
 * Converts a built-in schema to the structural form that controller-gen emits for the same type.
 * @throws TypeError if the schema is recursive, which a CRD cannot express, or a `$ref` cannot be resolved
 */
export function embedSchema(schema: JSONSchemaProps, options: EmbedOptions = {}): JSONSchemaProps {
  return new Embedding(options.definitions ?? {}).embed(schema, '', false)
}

/** Returns the schema of a field that contains a complete object of a kind. */
export function embedResource(schema: JSONSchemaProps): JSONSchemaProps {
  const json = embedSchema(schema)
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...fields } = json.properties ?? {}
  const identity = { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: { type: 'object' } }
  return {
    ...json,
    properties: { ...fields, ...identity },
    required: [...new Set([...(json.required ?? []), 'apiVersion', 'kind'])],
    'x-kubernetes-embedded-resource': true,
  }
}

class Embedding {
  readonly #definitions: Readonly<Record<string, JSONSchemaProps>>
  /** The schemas on the path from the root to the current one. Reaching one of them again means recursion. */
  readonly #open = new Set<JSONSchemaProps>()
  /**
   * Whether the current schema is a field of a built-in Go struct. Enums of such fields come from the marker `+enum`, which documents the
   * values and rejects none: the API accepts "" for unset. controller-gen ignores the marker.
   */
  #isInStruct = false

  constructor(definitions: Readonly<Record<string, JSONSchemaProps>>) {
    this.#definitions = definitions
  }

  /**
   * Converts a schema. With `zeroDefault`, a default that is the zero value is dropped: in required fields and elements
   * it only reflects Go's encoding.
   */
  embed(schema: JSONSchemaProps, path: string, zeroDefault: boolean): JSONSchemaProps {
    const target = this.#resolve(schema, path)
    if (this.#open.has(target)) {
      throw new TypeError(
        `Cannot embed schema: it contains itself at ${path || 'the root'}; use s.json() for that field`,
      )
    }
    this.#open.add(target)
    const json = this.#structural(target, path)
    this.#open.delete(target)
    // The description at the reference may be more specific than that of the type.
    const description = schema.description === undefined ? {} : { description: schema.description }
    const value = schema.default ?? target.default
    const keep = path !== '' && value !== undefined && value !== null && !isArtefact(value, zeroDefault)
    return { ...json, ...description, ...(keep ? { default: value } : {}) }
  }

  #resolve(schema: JSONSchemaProps, path: string): JSONSchemaProps {
    const only = schema.allOf?.length === 1 && schema.type === undefined ? schema.allOf[0] : undefined
    const reference = schema.$ref ?? only?.$ref
    // OpenAPI v3 wraps a reference in a single allOf arm to give it a description.
    if (reference === undefined) return only === undefined ? schema : this.#resolve(only, path)
    const name = reference.slice(reference.lastIndexOf('/') + 1)
    const definition = Object.hasOwn(this.#definitions, name) ? this.#definitions[name] : undefined
    if (definition === undefined) {
      throw new TypeError(
        `Cannot embed schema: no definition for ${reference} at ${path || 'the root'}; pass it in options.definitions`,
      )
    }
    return this.#resolve(definition, path)
  }

  #structural(schema: JSONSchemaProps, path: string): JSONSchemaProps {
    const special = intOrString(schema)
    if (special !== undefined) {
      return schema.description === undefined ? special : { ...special, description: schema.description }
    }
    const isInStruct = this.#isInStruct
    if (schema.properties !== undefined) this.#isInStruct = structName(schema) !== undefined
    const json = this.#convert(schema, path)
    this.#isInStruct = isInStruct
    return json
  }

  #convert(schema: JSONSchemaProps, path: string): JSONSchemaProps {
    const entries: [string, unknown][] = Object.entries(schema).filter(
      ([keyword]) => !dropped.has(keyword) && !(keyword === 'enum' && this.#isInStruct),
    )
    const { items, properties, additionalProperties, allOf, oneOf } = schema
    if (items !== undefined) entries.push(['items', this.embed(items, `${path}[]`, true)])
    if (typeof additionalProperties === 'object') {
      entries.push(['additionalProperties', this.embed(additionalProperties, `${path}.*`, true)])
    } else if (additionalProperties === true) entries.push(['additionalProperties', true])
    if (properties !== undefined) entries.push(['properties', this.#fields(schema, properties, path)])
    if (allOf !== undefined) entries.push(['allOf', allOf])
    if (oneOf !== undefined) entries.push(['oneOf', oneOf])
    // A value without a type is arbitrary JSON (apiextensions' JSON, runtime.RawExtension).
    const isAny = schema.type === undefined && properties === undefined && items === undefined
    if (isAny) entries.push(['x-kubernetes-preserve-unknown-fields', true])
    else if (schema.type === undefined) entries.push(['type', properties === undefined ? 'array' : 'object'])
    return withPossibleListType(Object.fromEntries(entries))
  }

  #fields(
    schema: JSONSchemaProps,
    properties: NonNullable<JSONSchemaProps['properties']>,
    path: string,
  ): Record<string, JSONSchemaProps> {
    const isObjectMeta = 'managedFields' in properties && 'resourceVersion' in properties && path !== ''
    const names = Object.keys(properties).filter((name) => !isObjectMeta || templateMetadata.has(name))
    return Object.fromEntries(
      names.map((name) => {
        const field = properties[name] ?? {}
        return [name, this.embed(field, `${path}.${name}`, schema.required?.includes(name) ?? false)]
      }),
    )
  }
}

// Built-in types violate two rules of CRDs: they have list types on base64 bytes, and list maps whose keys may be
// absent.
function withPossibleListType(json: JSONSchemaProps): JSONSchemaProps {
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [], ...rest } = json
  if (listType === undefined || (json.type === 'array' && listType !== 'map')) return json
  if (json.type !== 'array') return rest
  const item = json.items ?? {}
  const isKey = (key: string): boolean =>
    item.required?.includes(key) === true || item.properties?.[key]?.default !== undefined
  return keys.length > 0 && keys.every(isKey) ? json : { ...rest, 'x-kubernetes-list-type': 'atomic' }
}

// Recognises int-or-string and quantity in the forms published in OpenAPI v2 and v3.
function intOrString(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  if (schema.format === 'int-or-string') return intOrStringJson
  if (schema['x-kubernetes-int-or-string'] === true) {
    return schema.pattern === undefined ? intOrStringJson : { ...intOrStringJson, pattern: schema.pattern }
  }
  if (schema.format === 'quantity') return quantityJson
  const types = schema.oneOf?.map((arm) => arm.type).join()
  return types === 'string,number' || types === 'number,string' ? quantityJson : undefined
}

// Go's published schemas give every embedded struct the default {} and every required scalar its zero value. These are
// not real defaults, and controller-gen does not emit them.
function isArtefact(value: unknown, zeroDefault: boolean): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return zeroDefault && (value === '' || value === 0 || value === false)
}
