import type { JSONSchemaProps } from '../json-schema.ts'
import { intOrStringJson, quantityJson } from './well-known.ts'

/** How `s.from` turns a built-in schema into a structural one. */
export interface EmbedOptions {
  /** The schemas that a `$ref` names, by the part after its last slash. @default none; a `$ref` is an error */
  readonly definitions?: Readonly<Record<string, JSONSchemaProps>>
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
// What controller-gen keeps with generateEmbeddedObjectMeta; the rest belongs to stored objects only.
const templateMetadata = new Set(['annotations', 'finalizers', 'labels', 'name', 'namespace'])

/**
 * A built-in schema as a CRD can carry it, in the form that controller-gen gives to the same type.
 * @throws TypeError if the schema is recursive, which no CRD can express, or a `$ref` cannot be resolved
 */
export function embedSchema(schema: JSONSchemaProps, options: EmbedOptions = {}): JSONSchemaProps {
  return new Embedding(options.definitions ?? {}).embed(schema, '', false)
}

/** The schema of a field that holds a whole object of a kind. */
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
  /** The schemas on the way from the root to the current one; meeting one of them again means recursion. */
  readonly #open = new Set<JSONSchemaProps>()

  constructor(definitions: Readonly<Record<string, JSONSchemaProps>>) {
    this.#definitions = definitions
  }

  /** `zeroDefault` says that a default which is the zero value only reflects Go's encoding, as for required fields and elements. */
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
    // The place of the reference may describe the field better than the type describes itself.
    const description = schema.description === undefined ? {} : { description: schema.description }
    const value = schema.default ?? target.default
    const keep = path !== '' && value !== undefined && value !== null && !isArtefact(value, zeroDefault)
    return { ...json, ...description, ...(keep ? { default: value } : {}) }
  }

  #resolve(schema: JSONSchemaProps, path: string): JSONSchemaProps {
    const only = schema.allOf?.length === 1 && schema.type === undefined ? schema.allOf[0] : undefined
    const reference = schema.$ref ?? only?.$ref
    // A lone arm is how OpenAPI v3 gives a reference a description of its own.
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
    const entries: [string, unknown][] = Object.entries(schema).filter(([keyword]) => !dropped.has(keyword))
    const { items, properties, additionalProperties, allOf, oneOf } = schema
    if (items !== undefined) entries.push(['items', this.embed(items, `${path}[]`, true)])
    if (typeof additionalProperties === 'object') {
      entries.push(['additionalProperties', this.embed(additionalProperties, `${path}.*`, true)])
    } else if (additionalProperties === true) entries.push(['additionalProperties', true])
    if (properties !== undefined) entries.push(['properties', this.#fields(schema, properties, path)])
    if (allOf !== undefined) entries.push(['allOf', allOf])
    if (oneOf !== undefined) entries.push(['oneOf', oneOf])
    // A value without any type is JSON, kept as it is (apiextensions' JSON, runtime.RawExtension).
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

// Built-in types break rules that hold for CRDs only: a list type on base64 bytes, and list maps whose keys may be absent.
function withPossibleListType(json: JSONSchemaProps): JSONSchemaProps {
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys = [], ...rest } = json
  if (listType === undefined || (json.type === 'array' && listType !== 'map')) return json
  if (json.type !== 'array') return rest
  const item = json.items ?? {}
  const isKey = (key: string): boolean =>
    item.required?.includes(key) === true || item.properties?.[key]?.default !== undefined
  return keys.length > 0 && keys.every(isKey) ? json : { ...rest, 'x-kubernetes-list-type': 'atomic' }
}

// Recognises int-or-string and quantity in the spellings of the published OpenAPI v2 and v3.
function intOrString(schema: JSONSchemaProps): JSONSchemaProps | undefined {
  if (schema.format === 'int-or-string') return intOrStringJson
  if (schema['x-kubernetes-int-or-string'] === true) {
    return schema.pattern === undefined ? intOrStringJson : { ...intOrStringJson, pattern: schema.pattern }
  }
  if (schema.format === 'quantity') return quantityJson
  const types = schema.oneOf?.map((arm) => arm.type).join()
  return types === 'string,number' || types === 'number,string' ? quantityJson : undefined
}

// Go's published schemas give every embedded struct the default {} and every required scalar its zero value; neither is a default
// that someone chose, and controller-gen emits neither.
function isArtefact(value: unknown, zeroDefault: boolean): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return zeroDefault && (value === '' || value === 0 || value === false)
}
