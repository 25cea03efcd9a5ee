import type { JSONSchemaProps } from '@kubewright/schema'
import { typeMetaProperties } from './object-meta-schema.ts'

/** The scalar types that merging distinguishes. Dates and int-or-string values are `untyped`. */
export type ScalarType = 'numeric' | 'string' | 'boolean' | 'untyped'

/**
 * The forms that a value may have for the purpose of merging (an atom in structured-merge-diff). Most nodes allow one
 * of the three; a node without a declared type allows all, and the value determines the form.
 */
export interface TypeNode {
  readonly scalar: ScalarType | undefined
  readonly list: ListType | undefined
  readonly map: MapType | undefined
}

/** A declared field of a map: its canonical path element, its default and its type, which is compiled on first use. */
export class FieldType {
  readonly element: string
  readonly default: unknown
  readonly #schema: JSONSchemaProps
  readonly #preserve: boolean
  #type: TypeNode | undefined

  constructor(name: string, schema: JSONSchemaProps, preserve: boolean) {
    this.element = `f:${name}`
    this.default = schema.default
    this.#schema = schema
    this.#preserve = preserve
  }

  get type(): TypeNode {
    return (this.#type ??= compileNode(this.#schema, this.#preserve))
  }
}

/**
 * A map or struct: its declared fields and the type of all others. Fields are compiled on first use, because schemas
 * may be cyclic.
 */
export class MapType {
  /** Atomic maps are owned and replaced as a whole. */
  readonly atomic: boolean
  /** True when the schema declares fields. */
  readonly hasFields: boolean
  readonly #properties: Readonly<Record<string, JSONSchemaProps>> | undefined
  readonly #rest: JSONSchemaProps | 'deduced' | undefined
  readonly #preserve: boolean
  readonly #fields = new Map<string, FieldType | undefined>()
  readonly #embedded: boolean
  #element: TypeNode | undefined

  constructor(schema: JSONSchemaProps, preserve: boolean, embedded: boolean, atomic: boolean) {
    this.atomic = atomic
    this.#properties = schema.properties
    this.#preserve = preserve
    this.#embedded = embedded
    this.hasFields = embedded || (schema.properties !== undefined && Object.keys(schema.properties).length > 0)
    const rest = schema.additionalProperties
    // An object without properties and additionalProperties is free-form (schemaconv/openapi.go).
    if (rest === undefined) this.#rest = preserve || !this.hasFields ? 'deduced' : undefined
    else this.#rest = rest === true ? 'deduced' : rest === false ? undefined : rest
  }

  /** The declared field, or undefined for any other name. */
  field(name: string): FieldType | undefined {
    const known = this.#fields.get(name)
    if (known !== undefined) return known
    const schema = this.#schemaOf(name)
    // Undeclared names are not cached: in maps, users choose them, so there is no bound on their number.
    if (schema === undefined) return undefined
    // Metadata does not inherit preserve-unknown-fields from the object.
    const field = new FieldType(name, schema, this.#preserve && schema !== typeMetaProperties[name])
    this.#fields.set(name, field)
    return field
  }

  /** The type of undeclared fields; undefined when they are not allowed. */
  get elementType(): TypeNode | undefined {
    if (this.#rest === undefined) return undefined
    if (this.#rest === 'deduced') return deducedNode
    return (this.#element ??= compileNode(this.#rest, this.#preserve))
  }

  /** True for a map without any declared structure. Such maps are not reconciled with schema changes. */
  get isFreeForm(): boolean {
    return !this.hasFields && this.elementType?.scalar === 'untyped'
  }

  #schemaOf(name: string): JSONSchemaProps | undefined {
    if (this.#embedded && Object.hasOwn(typeMetaProperties, name)) return typeMetaProperties[name]
    return this.#properties && Object.hasOwn(this.#properties, name) ? this.#properties[name] : undefined
  }
}

/** A list: atomic, or associative with items identified by their keys, or by their value when there are no keys. */
export class ListType {
  readonly atomic: boolean
  /** The keys in the order of the schema. */
  readonly keys: readonly string[]
  /** The keys sorted by name, as in path elements. */
  readonly sortedKeys: readonly string[]
  readonly #items: JSONSchemaProps | undefined
  readonly #preserve: boolean
  #element: TypeNode | undefined

  constructor(schema: JSONSchemaProps, preserve: boolean) {
    const [atomic, keys] = relationship(schema)
    this.atomic = atomic
    this.keys = keys
    this.sortedKeys = keys.length > 1 ? [...keys].sort() : keys
    this.#items = schema.items
    this.#preserve = preserve
  }

  /** The type of the items. */
  get elementType(): TypeNode {
    return (this.#element ??= this.#items ? compileNode(this.#items, this.#preserve) : untypedAtomicNode)
  }

  /** The default of a key field. An item that omits the key is identified by this value. */
  keyDefault(key: string): unknown {
    return this.elementType.map?.field(key)?.default
  }
}

function relationship(schema: JSONSchemaProps): readonly [atomic: boolean, keys: readonly string[]] {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return [false, []]
    case 'map':
      return [false, schema['x-kubernetes-list-map-keys'] ?? []]
    case undefined:
      break
    default:
      return [true, []]
  }
  const strategy = schema['x-kubernetes-patch-strategy']
  if (strategy !== 'merge' && strategy !== 'merge,retainKeys') return [true, []]
  const key = schema['x-kubernetes-patch-merge-key']
  return [false, key === undefined ? [] : [key]]
}

const freeForm: JSONSchemaProps = { additionalProperties: true }

/** The type of untyped data inside an atomic value: everything below is atomic. */
const untypedAtomicNode: TypeNode = {
  scalar: 'untyped',
  list: new ListType({}, false),
  map: new MapType(freeForm, false, false, true),
}

/** The type of untyped data: maps merge by key, lists are atomic. */
const deducedNode: TypeNode = {
  scalar: 'untyped',
  list: new ListType({}, false),
  map: new MapType(freeForm, false, false, false),
}

const nodes = new WeakMap<JSONSchemaProps, TypeNode>()
const preservingNodes = new WeakMap<JSONSchemaProps, TypeNode>()
const objectNodes = new WeakMap<JSONSchemaProps, TypeNode>()

/**
 * The type of whole objects with this schema. Adds what schemas of custom resources omit (apiVersion, kind, the fields
 * of metadata), so an `openAPIV3Schema` can be used as it is.
 */
export function objectTypeOf(schema: JSONSchemaProps | null): TypeNode {
  if (schema === null) return deducedNode
  let node = objectNodes.get(schema)
  if (node === undefined) {
    const metadata = schema.properties?.['metadata']
    const complete = metadata !== undefined && (metadata.properties !== undefined || metadata.allOf !== undefined)
    node = complete
      ? compileNode(schema, false)
      : { scalar: undefined, list: undefined, map: mapOf(schema, false, true) }
    objectNodes.set(schema, node)
  }
  return node
}

/** The type of values with this schema; compiled once per schema object. */
function compileNode(schema: JSONSchemaProps, preserve: boolean): TypeNode {
  // Everything below inherits preserve-unknown-fields (schemaconv/openapi.go: visitSpec).
  const preserving = preserve || schema['x-kubernetes-preserve-unknown-fields'] === true
  const cache = preserving ? preservingNodes : nodes
  let node = cache.get(schema)
  if (node === undefined) {
    node = makeNode(schema, preserving)
    cache.set(schema, node)
  }
  return node
}

function makeNode(schema: JSONSchemaProps, preserve: boolean): TypeNode {
  switch (schema.type) {
    case undefined:
    case '': {
      const referred = schema.allOf?.length === 1 ? schema.allOf[0] : undefined
      if (
        referred &&
        (referred.type !== undefined || referred.properties !== undefined || referred.allOf !== undefined)
      ) {
        return override(compileNode(referred, false), schema, referred)
      }
      // A quantity is a string or a number.
      if (schema.oneOf?.length && schema.oneOf.every(({ type }) => type === 'string' || type === 'number')) {
        return { scalar: 'untyped', list: undefined, map: undefined }
      }
      return { scalar: 'untyped', list: new ListType(schema, preserve), map: mapOf(schema, preserve) }
    }
    case 'object':
      return { scalar: undefined, list: undefined, map: mapOf(schema, preserve) }
    case 'array':
      return { scalar: undefined, list: new ListType(schema, preserve), map: undefined }
    case 'integer':
    case 'number':
      return { scalar: 'numeric', list: undefined, map: undefined }
    case 'boolean':
      return { scalar: 'boolean', list: undefined, map: undefined }
    case 'string': {
      const plain = schema.format === undefined || schema.format === '' || schema.format === 'byte'
      return { scalar: plain ? 'string' : 'untyped', list: undefined, map: undefined }
    }
    default:
      return { scalar: 'untyped', list: undefined, map: undefined }
  }
}

function mapOf(schema: JSONSchemaProps, preserve: boolean, root = false): MapType {
  const preserving = preserve || schema['x-kubernetes-preserve-unknown-fields'] === true
  const embedded = root || schema['x-kubernetes-embedded-resource'] === true
  return new MapType(schema, preserving, embedded, schema['x-kubernetes-map-type'] === 'atomic')
}

/** Applies the map type of a reference, which may override whether the referred map is atomic. */
function override(node: TypeNode, reference: JSONSchemaProps, referred: JSONSchemaProps): TypeNode {
  const mapType = reference['x-kubernetes-map-type']
  if (mapType === undefined || node.map === undefined || node.map.atomic === (mapType === 'atomic')) return node
  return { ...node, map: new MapType(referred, false, false, mapType === 'atomic') }
}
