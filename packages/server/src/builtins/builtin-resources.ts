import type { AnyKind } from '@kubewright/api'
import { kindFor } from '@kubewright/k8s/all'
import { discoveryGroups, type ResourceDiscovery } from '@kubewright/k8s/discovery'
import type { Conversion } from '../resource/conversion.ts'
import { builtinOrigin } from '../resource/origin.ts'
import type { FieldSelectors, Presentation, Resource, VirtualCreate } from '../resource/resource.ts'
import { mainStrategy, statusStrategy } from '../resource/status-strategy.ts'
import type { Strategy } from '../resource/strategy.ts'
import type { Subresource } from '../resource/subresource.ts'
import type { TableDefinition } from '../resource/table-definition.ts'
import { labelsText, scaleSubresource } from './scale/scale-view.ts'
import { typedCodec } from './typed/typed-codec.ts'

/** What a built-in resource adds to what its schema and discovery say. */
export interface BuiltinResource {
  readonly strategy?: Strategy
  /** By name; a subresource of discovery that is missing here is served by the generic verbs with the status rules. */
  readonly subresources?: Readonly<Record<string, Subresource>>
  readonly table?: TableDefinition
  readonly selectableFields?: FieldSelectors['fields']
  readonly unknownField?: FieldSelectors['unknownField']
  /** @default the kind's group */
  readonly errorGroup?: string
  /** Below /registry/, with a slash at the end. @default the plural */
  readonly storagePath?: string
  readonly conversion?: Conversion
  /** See {@link Presentation.bookmark}. */
  readonly bookmark?: Presentation['bookmark']
  readonly deprecation?: string
  readonly virtual?: VirtualCreate
}

/** Additions by `group/plural` (`/pods` for the core group), or by `group/version/plural` where a version differs from the others. */
export type BuiltinTable = Readonly<Record<string, BuiltinResource>>

/** Every resource of a Kubernetes v1.35 server, in the order of its discovery. */
export function builtinResources(table: BuiltinTable): Resource[] {
  const resources: Resource[] = []
  for (const { group, versions } of discoveryGroups()) {
    for (const { version, resources: listed } of versions) {
      for (const found of listed) {
        const kind = kindFor({ group, version, kind: found.kind })
        if (!kind) throw new Error(`Discovery names ${group}/${version} ${found.kind}, which is no built-in kind`)
        const added = table[`${group}/${version}/${found.resource}`] ?? table[`${group}/${found.resource}`]
        const own = completed(added ?? {}, kind, found)
        resources.push(assemble(kind, found.resource, found.verbs, own, own.subresources))
      }
    }
  }
  return resources
}

/** Adds the subresources that discovery names and the table does not: status and scale follow the rules that most kinds share. */
function completed(
  own: BuiltinResource,
  kind: AnyKind,
  found: ResourceDiscovery,
): BuiltinResource & { readonly subresources: Readonly<Record<string, Subresource>> } {
  const subresources: Record<string, Subresource> = { ...own.subresources }
  let { strategy = {} } = own
  for (const { name, verbs } of found.subresources ?? []) {
    if (subresources[name]) continue
    if (name === 'status') {
      subresources[name] = { verbs, strategy: statusStrategy(strategy) }
      strategy = mainStrategy(strategy)
    } else if (name === 'scale') {
      const selector = kind.kind === 'ReplicationController' ? { selector: labelsText } : {}
      subresources[name] = scaleSubresource({ apiVersion: kind.apiVersion, strategy, ...selector })
    } else subresources[name] = { verbs }
  }
  return { ...own, strategy, subresources }
}

function assemble(
  kind: AnyKind,
  plural: string,
  verbs: readonly string[],
  own: BuiltinResource,
  subresources: Readonly<Record<string, Subresource>>,
): Resource {
  const { strategy = {}, storagePath = `${plural}/` } = own
  return {
    kind: factsOf(kind, plural),
    origin: builtinOrigin,
    errorGroup: own.errorGroup ?? kind.group,
    serving: { verbs, deprecation: own.deprecation },
    strategy,
    subresources,
    virtual: own.virtual,
    codec: typedCodec(kind, strategy),
    storage: { prefix: `/registry/${storagePath}`, apiVersion: kind.apiVersion, kind: kind.kind },
    conversion: own.conversion ?? {},
    selectors: { fields: own.selectableFields ?? {}, unknownField: own.unknownField },
    presentation: { table: own.table, bookmark: own.bookmark },
  }
}

/** The facts of a kind as plain data. Its schema is read from the tables when it is asked for: spreading would ask, for every kind. */
function factsOf(kind: AnyKind, plural: string): Resource['kind'] {
  const { group, version, apiVersion, singular, listKind, scope, shortNames, categories } = kind
  return {
    group,
    version,
    kind: kind.kind,
    apiVersion,
    plural,
    singular,
    listKind,
    scope,
    shortNames,
    categories,
    subresources: kind.subresources,
    get schema() {
      return kind.schema
    },
  }
}
