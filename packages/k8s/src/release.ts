import type { AnyKind } from '@kubewright/api'
import type { JSONSchemaProps } from '@kubewright/schema'
import type { GroupDiscovery } from './discovery.ts'
import type { FeatureGate } from './feature-gates.ts'
import { publishedName, shortName } from './internal/definition-name.ts'
import { type OpenApiVersion, publishSchema } from './internal/publish-schema.ts'
import type { SchemaTable } from './internal/schema-table.ts'
import { hasRule, type ReleaseRule } from './release-rule.ts'

/** What identifies a kind. The core group has the empty name. */
export interface GroupVersionKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** The facts from which a {@link Release} is made. */
export interface ReleaseFacts {
  /** Such as `1.36`. */
  readonly version: string
  /** The patch release whose server was recorded, such as `v1.36.4`. */
  readonly gitVersion: string
  /** Groups in the order in which a server lists them. */
  readonly groups: readonly GroupDiscovery[]
  readonly tables: readonly SchemaTable[]
  /** Every kind in every served version, ordered by group and name. */
  readonly kinds: readonly AnyKind[]
  readonly featureGates: ReadonlyMap<string, FeatureGate>
}

/**
 * A minor release of Kubernetes: what its API server serves, as a value. Releases are immutable and share what they have in common, so
 * several can be used in one process.
 */
export class Release {
  readonly version: string
  readonly gitVersion: string
  readonly groups: readonly GroupDiscovery[]
  /** Every kind in every served version, ordered by group and name. */
  readonly kinds: readonly AnyKind[]
  /** The feature gates of kube-apiserver by name. */
  readonly featureGates: ReadonlyMap<string, FeatureGate>
  readonly #tables: ReadonlyMap<string, SchemaTable>
  #index: ReadonlyMap<string, AnyKind> | undefined

  constructor(facts: ReleaseFacts) {
    this.version = facts.version
    this.gitVersion = facts.gitVersion
    this.groups = facts.groups
    this.kinds = facts.kinds
    this.featureGates = facts.featureGates
    this.#tables = new Map(facts.tables.map((table) => [table.key, table]))
  }

  /** Whether the server of this release has a behaviour. */
  has(rule: ReleaseRule): boolean {
    return hasRule(this.version, rule)
  }

  /** Returns the built-in kind with this group, version and name, or undefined. */
  kindFor({ group, version, kind }: GroupVersionKind): AnyKind | undefined {
    this.#index ??= new Map(this.kinds.map((one) => [`${one.apiVersion}/${one.kind}`, one]))
    return this.#index.get(`${group === '' ? version : `${group}/${version}`}/${kind}`)
  }

  /** Returns the published names of all definitions, including kinds and lists, sorted. */
  schemaNames(): readonly string[] {
    const tables = [...this.#tables.values()]
    return tables.flatMap((table) => [...table.names()].map((local) => publishedName(table.key, local))).sort()
  }

  /** Whether a definition with this published name is built in. */
  hasSchema(name: string): boolean {
    const short = shortName(name)
    return short !== undefined && this.#tables.get(short.table)?.has(short.local) === true
  }

  /** Returns a definition as /openapi/v2 or /openapi/v3 publishes it, with references in place and without descriptions. */
  publishedSchema(name: string, version: OpenApiVersion): JSONSchemaProps {
    const { table, local } = this.#locate(name)
    return publishSchema(table, local, version)
  }

  #locate(name: string): { readonly table: SchemaTable; readonly local: string } {
    const short = shortName(name)
    const table = short && this.#tables.get(short.table)
    if (short === undefined || !table?.has(short.local)) {
      throw new RangeError(`Cannot find a schema: ${name} is not built in; schemaNames() lists the built-in schemas`)
    }
    return { table, local: short.local }
  }
}
