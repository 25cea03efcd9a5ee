import { type CrdManifest, crdOf, resourceOf } from '@kubewright/api'
import { lossyVersions } from './check-versions.ts'
import { kindsOf, type OperatorKinds } from './kinds-of.ts'

/** Options of {@link definitionsOf}. */
export interface DefinitionsOptions {
  /** Whether to include kinds that another project installs. @default true */
  readonly external?: boolean | undefined
}

/**
 * The CRDs of all custom kinds that an operator uses, one for each resource, sorted by name. Throws a TypeError if
 * versions of a kind would lose fields of each other; see `defineOperator`.
 */
export function definitionsOf(
  operator: OperatorKinds,
  { external = true }: DefinitionsOptions = {},
): readonly CrdManifest[] {
  const kinds = kindsOf(operator)
  const problem = lossyVersions(kinds, operator.conversions)
  if (problem !== undefined) throw new TypeError(`Cannot create CustomResourceDefinitions as ${problem}`)
  const byName = new Map<string, CrdManifest>()
  for (const kind of kinds) {
    const resource = resourceOf(kind)
    if (resource === undefined || (resource.external && !external)) continue
    const definition = crdOf(kind)
    if (!byName.has(definition.metadata.name)) byName.set(definition.metadata.name, definition)
  }
  return [...byName.values()].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}
