// Reads the recorded facts of the built-in API into the form that the writers of this folder share.
import { shortName } from '../../packages/k8s/src/internal/definition-name.ts'

/** A published schema, with the keywords that occur in the facts. */
export interface PublishedSchema {
  readonly $ref?: string
  readonly allOf?: readonly PublishedSchema[]
  readonly oneOf?: readonly PublishedSchema[]
  readonly type?: string
  readonly format?: string
  readonly default?: unknown
  readonly enum?: readonly string[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, PublishedSchema>>
  readonly items?: PublishedSchema
  readonly additionalProperties?: PublishedSchema
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-patch-strategy'?: string
  readonly 'x-kubernetes-patch-merge-key'?: string
  readonly 'x-kubernetes-unions'?: unknown
  readonly 'x-kubernetes-group-version-kind'?: readonly Gvk[]
}

/** A published group, version and kind. */
export interface Gvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A resource of the aggregated discovery document. */
export interface DiscoveredResource {
  readonly resource: string
  readonly responseKind: Gvk
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly {
    readonly subresource: string
    readonly responseKind: Gvk
    readonly verbs: readonly string[]
  }[]
}

/** A group of the aggregated discovery document. Versions are in order of preference. */
export interface DiscoveredGroup {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveredResource[] }[]
}

/** A definition and its position in the tables. */
export interface FactDefinition {
  readonly published: string
  readonly table: string
  readonly local: string
  readonly schema: PublishedSchema
}

/** A kind with a URL: a resource, or the body of a subresource. */
export interface FactKind {
  readonly definition: FactDefinition
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly plural: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: readonly string[]
  /** Whether objects of the kind are only sent, never read back by name. */
  readonly virtual: boolean
  /** Whether this is the preferred version of the group. */
  readonly preferred: boolean
}

/** All facts to write. */
export interface ApiFacts {
  /** Such as `v1.35.8`. */
  readonly gitVersion: string
  /** By table key, in key order. Definitions are in published order. */
  readonly tables: ReadonlyMap<string, readonly FactDefinition[]>
  readonly kinds: ReadonlyMap<string, FactKind>
  readonly groups: readonly DiscoveredGroup[]
  readonly v2: Readonly<Record<string, PublishedSchema>>
}

/** Returns the key of a kind: `table.Kind`, such as `apps/v1.Deployment`. */
export const keyOf = (definition: FactDefinition): string => `${definition.table}.${definition.local}`

/** Arranges published schemas and discovered groups as facts. */
export function factsOf(
  gitVersion: string,
  schemas: Readonly<Record<string, PublishedSchema>>,
  v2: Readonly<Record<string, PublishedSchema>>,
  groups: readonly DiscoveredGroup[],
): ApiFacts {
  const definitions: FactDefinition[] = Object.entries(schemas).map(([published, schema]) => {
    const short = shortName(published)
    if (short === undefined) throw new Error(`Cannot place definition ${published}: its name belongs to no table`)
    return { published, ...short, schema }
  })
  const tables = new Map<string, FactDefinition[]>()
  for (const definition of [...definitions].sort((a, b) => (a.table < b.table ? -1 : a.table > b.table ? 1 : 0))) {
    tables.set(definition.table, [...(tables.get(definition.table) ?? []), definition])
  }
  const kinds = findKinds(definitions, groups)
  return { gitVersion, tables, kinds, groups, v2 }
}

function findKinds(definitions: readonly FactDefinition[], groups: readonly DiscoveredGroup[]): Map<string, FactKind> {
  const byGvk = new Map<string, FactDefinition>()
  for (const definition of definitions) {
    const gvks = definition.schema['x-kubernetes-group-version-kind'] ?? []
    if (gvks.length === 1) byGvk.set(`${gvks[0]!.group}/${gvks[0]!.version}/${gvks[0]!.kind}`, definition)
  }
  const kinds = new Map<string, FactKind>()
  const bodies: { gvk: Gvk; plural: string; scope: 'Namespaced' | 'Cluster' }[] = []
  for (const group of groups) {
    const name = group.metadata.name ?? ''
    group.versions.forEach(({ version, resources }, index) => {
      for (const resource of resources) {
        const kind = resource.responseKind.kind
        const definition = byGvk.get(`${name}/${version}/${kind}`)
        if (definition === undefined)
          throw new Error(`Cannot find a definition for the resource ${resource.resource} of ${name}/${version}`)
        kinds.set(keyOf(definition), {
          definition,
          group: name,
          version,
          kind,
          plural: resource.resource,
          scope: resource.scope,
          singular: resource.singularResource,
          shortNames: resource.shortNames ?? [],
          categories: resource.categories ?? [],
          subresources: (resource.subresources ?? []).map((s) => s.subresource),
          virtual: !resource.verbs.includes('get'),
          preferred: index === 0,
        })
        for (const { responseKind } of resource.subresources ?? []) {
          if (responseKind.version !== '') bodies.push({ gvk: responseKind, plural: '', scope: resource.scope })
        }
      }
    })
  }
  // Kinds that exist only as the body of a subresource, such as Scale. They have no path of their own, so the plural is
  // empty.
  for (const { gvk, plural, scope } of bodies) {
    const definition = byGvk.get(`${gvk.group}/${gvk.version}/${gvk.kind}`)
    if (definition === undefined || kinds.has(keyOf(definition))) continue
    const singular = gvk.kind.toLowerCase()
    const facts = { singular, shortNames: [], categories: [], subresources: [], virtual: true, preferred: true }
    kinds.set(keyOf(definition), { definition, ...gvk, plural, scope, ...facts })
  }
  return kinds
}
