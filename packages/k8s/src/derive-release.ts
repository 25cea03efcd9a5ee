import type { AnyKind } from '@kubewright/api'
import { type BuiltinFacts, builtinKind } from './builtin-kind.ts'
import type { GroupDiscovery, ResourceDiscovery } from './discovery.ts'
import { type FeatureGateNames, parseFeatureGates } from './feature-gates.ts'
import { SchemaTable } from './internal/schema-table.ts'
import { Release, type ReleaseFacts } from './release.ts'

/** What differs in a release from the newest one. */
export interface ReleaseChanges {
  readonly version: string
  readonly gitVersion: string
  /** Every group in the order in which a server lists them. A name stands for the same group as in the newest release. */
  readonly groups: readonly (string | GroupDiscovery)[]
  /** The lines of each table that differ, in the notation of `internal/schema-notation.ts`. A table that is not served has the value null. */
  readonly tables: Readonly<Record<string, string | null>>
  readonly featureGates: FeatureGateNames
}

/** Makes a release from the facts of the newest one and from what differs. */
export function deriveRelease(newest: ReleaseFacts, changes: ReleaseChanges): Release {
  const groups = changes.groups.map((group) => {
    const found = typeof group === 'string' ? newest.groups.find((one) => one.group === group) : group
    if (!found) throw new RangeError(`Cannot derive release ${changes.version}: the newest one has no group ${group}`)
    return found
  })
  // References between tables are resolved on use, so the tables of a release may refer to each other before all exist.
  const tables: SchemaTable[] = []
  const known = new Set(newest.tables.map(({ key }) => key))
  for (const table of newest.tables) {
    const lines = changes.tables[table.key]
    if (lines !== null) tables.push(table.derive(lines, tables))
  }
  for (const [key, lines] of Object.entries(changes.tables)) {
    if (!known.has(key) && lines !== null) tables.push(new SchemaTable(key, lines, tables))
  }
  const { version, gitVersion } = changes
  return new Release({
    version,
    gitVersion,
    groups,
    tables,
    kinds: kindsOf(groups, tables),
    featureGates: parseFeatureGates(changes.featureGates),
  })
}

/** The kinds of the resources that discovery lists, and of the bodies of their subresources. */
function kindsOf(groups: readonly GroupDiscovery[], tables: readonly SchemaTable[]): readonly AnyKind[] {
  const kinds = new Map<string, AnyKind>()
  const tableOf = (group: string, version: string, kind: string): SchemaTable | undefined =>
    tables.find((table) => table.has(kind) && table.definition(kind).kindOf?.includes(apiVersionOf(group, version)))
  const add = (facts: BuiltinFacts): void => {
    const key = `${apiVersionOf(facts.group, facts.version)}/${facts.kind}`
    const table = tableOf(facts.group, facts.version, facts.kind)
    if (table && !kinds.has(key)) kinds.set(key, builtinKind(table, facts))
  }
  const bodies: BuiltinFacts[] = []
  for (const { group, versions } of groups) {
    for (const { version, resources } of versions) {
      for (const resource of resources) {
        add({ group, version, ...factsOf(resource) })
        for (const { kind, group: bodyGroup = '', version: bodyVersion } of resource.subresources ?? []) {
          if (bodyVersion === undefined) continue
          bodies.push({ group: bodyGroup, version: bodyVersion, kind, plural: '', scope: resource.scope })
        }
      }
    }
  }
  // Kinds without a path of their own, unless a resource has the same kind.
  bodies.forEach(add)
  return [...kinds.values()]
}

function factsOf(found: ResourceDiscovery): Omit<BuiltinFacts, 'group' | 'version'> {
  const { kind, resource: plural, singular, scope, shortNames, categories, subresources } = found
  return { kind, plural, singular, scope, shortNames, categories, subresources: subresources?.map(({ name }) => name) }
}

const apiVersionOf = (group: string, version: string): string => (group === '' ? version : `${group}/${version}`)
