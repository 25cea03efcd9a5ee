import type { AnyKind } from '@kubewright/api'
import { unreachable } from '@kubewright/base'
import type { ResourceDiscovery } from '@kubewright/k8s/discovery'
import type { ServedRelease } from '../codec/served-release.ts'
import { builtinOrigin } from '../resource/origin.ts'
import type { Resource } from '../resource/resource.ts'
import { mainStrategy, statusStrategy } from '../resource/status-strategy.ts'
import type { Subresource } from '../resource/subresource.ts'
import type { BuiltinBehavior, BuiltinDefinition, BuiltinServer } from './define-builtin.ts'
import { labelsText, scaleSubresource } from './scale/scale-view.ts'
import { typedCodec } from './typed/typed-codec.ts'

/**
 * The resources of a release of Kubernetes, in the order of discovery. A resource without a definition has the default behaviour.
 * Definitions of resources that the release does not have are left out. Without `server`, so are the `withServer` parts.
 */
export function builtinResources(
  release: ServedRelease,
  definitions: readonly BuiltinDefinition[],
  server?: BuiltinServer,
): Resource[] {
  const behaviors = new Map(
    definitions.map((definition) => [keyOf(definition), () => behaviorOf(definition, release, server)]),
  )
  const resources: Resource[] = []
  for (const { group, versions } of release.facts.groups) {
    for (const { version, resources: listed } of versions) {
      for (const found of listed) {
        const { resource } = found
        const kind = release.facts.kindFor({ group, version, kind: found.kind })
        if (!kind) unreachable(`Discovery lists ${group}/${version} ${found.kind}, which is not a built-in kind`)
        const keys = [keyOf({ group, version, resource }), keyOf({ group, resource })]
        const key = keys.find((candidate) => behaviors.has(candidate)) ?? ''
        resources.push(assemble(release, kind, found, behaviors.get(key)?.() ?? {}))
      }
    }
  }
  return resources
}

function keyOf({ group, version, resource }: Pick<BuiltinDefinition, 'group' | 'version' | 'resource'>): string {
  return version === undefined ? `${group}/${resource}` : `${group}/${version}/${resource}`
}

function behaviorOf(
  base: BuiltinDefinition,
  release: ServedRelease,
  server: BuiltinServer | undefined,
): BuiltinBehavior {
  const definition = { ...base, ...base.withRelease?.(release) }
  const added = server && definition.withServer?.(server)
  if (!added) return definition
  return { ...definition, ...added, subresources: { ...definition.subresources, ...added.subresources } }
}

function assemble(
  release: ServedRelease,
  kind: AnyKind,
  found: ResourceDiscovery,
  behavior: BuiltinBehavior,
): Resource {
  const { resource, verbs } = found
  const { strategy, subresources } = completed(release, behavior, kind, found)
  return {
    kind: factsOf(kind, resource),
    origin: builtinOrigin,
    release,
    errorGroup: behavior.errorGroup ?? kind.group,
    serving: { verbs, deprecation: behavior.deprecation },
    strategy,
    subresources,
    virtual: behavior.virtual,
    computed: behavior.computed,
    codec: typedCodec(release, kind, strategy),
    storage: {
      prefix: `/registry/${behavior.storagePath ?? `${resource}/`}`,
      apiVersion: kind.apiVersion,
      kind: kind.kind,
      uncached: behavior.uncached,
      reportedPrefix: behavior.reportedPrefix,
    },
    conversion: behavior.conversion ?? {},
    selectors: { fields: behavior.selectableFields ?? {}, unknownField: behavior.unknownField },
    presentation: { table: behavior.table, bookmark: behavior.bookmark },
  }
}

/** Adds the subresources that discovery lists and the definition lacks: status and scale follow the rules that most kinds share. */
function completed(
  release: ServedRelease,
  behavior: BuiltinBehavior,
  kind: AnyKind,
  found: ResourceDiscovery,
): Pick<Resource, 'strategy' | 'subresources'> {
  const subresources: Record<string, Subresource> = { ...behavior.subresources }
  let { strategy = {} } = behavior
  for (const { name, verbs } of found.subresources ?? []) {
    if (subresources[name]) continue
    if (name === 'status') {
      subresources[name] = { verbs, strategy: statusStrategy(strategy) }
      strategy = mainStrategy(strategy)
    } else if (name === 'scale') {
      const selector = kind.kind === 'ReplicationController' ? { selector: labelsText } : {}
      subresources[name] = scaleSubresource({ release, apiVersion: kind.apiVersion, strategy, ...selector })
    } else subresources[name] = { verbs }
  }
  return { strategy, subresources }
}

/** The facts of a kind as plain data. The schema stays a getter, because building the schema of every kind would be slow. */
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
