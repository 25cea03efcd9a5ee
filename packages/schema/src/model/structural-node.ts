import type { JSONSchemaProps, ValidationRule } from './json-schema.ts'

/** A decoded JSON object, which this package traverses and modifies. */
export type JsonObject = Record<string, unknown>

/** A property of a schema subtree. Traversals skip subtrees without the property they need. */
type Trait = 'defaults' | 'listTypes' | 'embedded' | 'rules'

/**
 * A node of a structural schema: properties, items and additionalProperties, with the keywords for defaulting, pruning
 * and the Kubernetes extensions, in a form that is fast to traverse.
 *
 * Children are created on first use and cached by the identity of their JSON, so large and even cyclic schemas cost
 * only the visited parts.
 */
export class StructuralNode {
  readonly json: JSONSchemaProps
  readonly type: string
  readonly nullable: boolean
  /** `undefined` if the schema has none. As in the API server, a JSON `null` counts as none. */
  readonly default: unknown
  readonly preserveUnknown: boolean
  readonly embedded: boolean
  readonly listType: string | undefined
  readonly listMapKeys: readonly string[]
  readonly mapType: string | undefined
  readonly rules: readonly ValidationRule[]
  /** Whether the schema sets additionalProperties, to a schema or a boolean. */
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

  /** Returns the node of a schema. All nodes below it share one cache. */
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

  /** Returns this node as the root of a resource, where type and object metadata are implied. */
  asResourceRoot(): StructuralNode {
    if (this.embedded) return this
    this.#root ??= new StructuralNode(this.json, this.#cache, true)
    return this.#root
  }

  /** The declared properties, or `undefined` if there are none. */
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

  /** The schema of additional properties, or `undefined` if there is none or only a boolean. */
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

  /** Returns the schema of a field: its property, else the additional properties. */
  field(name: string): StructuralNode | undefined {
    return this.properties?.get(name) ?? this.additional
  }

  /** Reports whether this node or a node below it has a default, a set or map list, an embedded resource, or a rule. */
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
