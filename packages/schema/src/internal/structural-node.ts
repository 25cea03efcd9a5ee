import type { JSONSchemaProps, ValidationRule } from '../json-schema.ts'

/** A decoded JSON object, as the walkers of this package read and change it. */
export type JsonObject = Record<string, unknown>

/** Whether the value is a JSON object (not a list, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What a subtree of a schema may contain; lets walkers skip whatever has nothing for them. */
type Trait = 'defaults' | 'listTypes' | 'embedded' | 'rules'

/**
 * The structural spine of a schema: properties, items and additionalProperties with everything that drives defaulting, pruning and
 * the Kubernetes extensions, in the form that walkers read fast.
 *
 * Children are made on first use and kept by identity of their JSON, so large and even cyclic schemas cost only what is visited.
 */
export class StructuralNode {
  readonly json: JSONSchemaProps
  readonly type: string
  readonly nullable: boolean
  /** `undefined` when the schema has none; a JSON `null` counts as none, as in the API server. */
  readonly default: unknown
  readonly preserveUnknown: boolean
  readonly embedded: boolean
  readonly listType: string | undefined
  readonly listMapKeys: readonly string[]
  readonly mapType: string | undefined
  readonly rules: readonly ValidationRule[]
  /** Whether the schema says anything about additional properties, be it a schema or a boolean. */
  readonly hasAdditional: boolean
  readonly #cache: Map<JSONSchemaProps, StructuralNode>
  #properties: ReadonlyMap<string, StructuralNode> | null | undefined
  #additional: StructuralNode | null | undefined
  #items: StructuralNode | null | undefined
  #defaulted: readonly (readonly [string, StructuralNode])[] | undefined
  #root: StructuralNode | undefined
  readonly #traits: Partial<Record<Trait, boolean>> = {}

  private constructor(json: JSONSchemaProps, cache: Map<JSONSchemaProps, StructuralNode>, embedded: boolean) {
    this.json = json
    this.#cache = cache
    this.type = json.type ?? ''
    this.nullable = json.nullable === true
    this.default = json.default ?? undefined
    this.preserveUnknown = json['x-kubernetes-preserve-unknown-fields'] === true
    this.embedded = embedded
    this.listType = json['x-kubernetes-list-type']
    this.listMapKeys = json['x-kubernetes-list-map-keys'] ?? []
    this.mapType = json['x-kubernetes-map-type']
    this.rules = json['x-kubernetes-validations'] ?? []
    this.hasAdditional = json.additionalProperties !== undefined && json.additionalProperties !== null
  }

  /** The node of a schema; nodes below share one cache. */
  static of(json: JSONSchemaProps): StructuralNode {
    return StructuralNode.#in(json, new Map())
  }

  static #in(json: JSONSchemaProps, cache: Map<JSONSchemaProps, StructuralNode>): StructuralNode {
    let node = cache.get(json)
    if (node === undefined) {
      node = new StructuralNode(json, cache, json['x-kubernetes-embedded-resource'] === true)
      cache.set(json, node)
    }
    return node
  }

  /** This node as the root of a resource, where type and object metadata are implied. */
  asResourceRoot(): StructuralNode {
    if (this.embedded) return this
    this.#root ??= new StructuralNode(this.json, this.#cache, true)
    return this.#root
  }

  /** The declared properties, or `undefined` when there are none. */
  get properties(): ReadonlyMap<string, StructuralNode> | undefined {
    if (this.#properties === undefined) {
      const entries = Object.entries(this.json.properties ?? {})
      this.#properties =
        entries.length === 0
          ? null
          : new Map(entries.map(([name, json]) => [name, StructuralNode.#in(json, this.#cache)]))
    }
    return this.#properties ?? undefined
  }

  /** The schema of additional properties, or `undefined` when there is none or only a boolean. */
  get additional(): StructuralNode | undefined {
    if (this.#additional === undefined) {
      const json = this.json.additionalProperties
      this.#additional = typeof json === 'object' && json !== null ? StructuralNode.#in(json, this.#cache) : null
    }
    return this.#additional ?? undefined
  }

  get items(): StructuralNode | undefined {
    if (this.#items === undefined) {
      const json = this.json.items
      this.#items = json === undefined || json === null ? null : StructuralNode.#in(json, this.#cache)
    }
    return this.#items ?? undefined
  }

  /** The properties that have a default of their own. */
  get defaulted(): readonly (readonly [string, StructuralNode])[] {
    this.#defaulted ??= [...(this.properties ?? [])].filter(([, node]) => node.default !== undefined)
    return this.#defaulted
  }

  /** The schema that applies to a field of an object: its property, else the additional properties. */
  field(name: string): StructuralNode | undefined {
    return this.properties?.get(name) ?? this.additional
  }

  /** Whether this node or any below it has a default, a set or map list, an embedded resource, or a rule. */
  has(trait: Trait): boolean {
    let known = this.#traits[trait]
    if (known === undefined) {
      known = reaches(this, trait, new Set())
      this.#traits[trait] = known
    }
    return known
  }
}

function carries(node: StructuralNode, trait: Trait): boolean {
  switch (trait) {
    case 'defaults':
      return node.default !== undefined
    case 'listTypes':
      return node.listType === 'set' || node.listType === 'map'
    case 'embedded':
      return node.embedded
    case 'rules':
      return node.rules.length > 0
  }
}

function reaches(node: StructuralNode, trait: Trait, seen: Set<StructuralNode>): boolean {
  if (carries(node, trait)) return true
  if (seen.has(node)) return false
  seen.add(node)
  if (node.items !== undefined && reaches(node.items, trait, seen)) return true
  if (node.additional !== undefined && reaches(node.additional, trait, seen)) return true
  for (const child of node.properties?.values() ?? []) {
    if (reaches(child, trait, seen)) return true
  }
  return false
}
