import { parseGroupVersion } from '@kubewright/api'
import type { SubresourceDiscovery } from '@kubewright/k8s/discovery'
import type { Release } from '@kubewright/k8s/releases'
import { builtinOrigin } from '../resource/origin.ts'
import type { Resource } from '../resource/resource.ts'
import { storageVersionHash } from './storage-version-hash.ts'

/** A kind as discovery shows it. Group and version are empty when they equal those of the resource. */
export interface ResponseKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A subresource as discovery shows it. */
export interface DiscoveredSubresource {
  readonly name: string
  readonly responseKind: ResponseKind
  readonly verbs: readonly string[]
}

/** A resource as discovery shows it, independent of the document format. */
export interface DiscoveredResource {
  readonly name: string
  readonly responseKind: ResponseKind
  readonly singular: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Absent for resources that are not stored. */
  readonly storageVersionHash?: string | undefined
  readonly subresources: readonly DiscoveredSubresource[]
}

/** The subresources of built-in resources by release, and by group, version and plural. */
const builtinSubresources = new WeakMap<Release, ReadonlyMap<string, readonly SubresourceDiscovery[]>>()

function subresourcesOf({ release, kind }: Resource): readonly SubresourceDiscovery[] | undefined {
  let all = builtinSubresources.get(release.facts)
  if (!all) {
    all = new Map(
      release.facts.groups.flatMap(({ group, versions }) =>
        versions.flatMap(({ version, resources }) =>
          resources.map(
            ({ resource, subresources }) => [`${group}/${version}/${resource}`, subresources ?? []] as const,
          ),
        ),
      ),
    )
    builtinSubresources.set(release.facts, all)
  }
  return all.get(`${kind.group}/${kind.version}/${kind.plural}`)
}

/**
 * The discovery entry of a resource. For built-in resources, the kinds of subresources come from the recorded discovery of
 * Kubernetes. Custom resources always show their full kind, as in kube-apiserver.
 */
export function discoveredResource(resource: Resource): DiscoveredResource {
  const { kind, serving, origin } = resource
  // The kinds of built-in resources are shared by all servers of a process.
  const key = origin === builtinOrigin ? kind : resource
  const known = discovered.get(key)
  const verbs = serving.listedVerbs ?? serving.verbs
  if (known?.verbs === verbs) return known
  const found = describe(resource)
  discovered.set(key, found)
  return found
}

/** Resources and kinds are immutable, and every change of the table rebuilds all documents. */
const discovered = new WeakMap<object, DiscoveredResource>()

function describe(resource: Resource): DiscoveredResource {
  const { kind } = resource
  const verbs = resource.serving.listedVerbs ?? resource.serving.verbs
  const builtin = resource.origin === builtinOrigin ? subresourcesOf(resource) : undefined
  const own: ResponseKind = builtin
    ? { group: '', version: '', kind: kind.kind }
    : { group: kind.group, version: kind.version, kind: kind.kind }
  return {
    name: kind.plural,
    responseKind: own,
    singular: kind.singular,
    scope: kind.scope,
    verbs,
    shortNames: kind.shortNames,
    categories: kind.categories,
    ...(verbs.includes('watch') ? { storageVersionHash: hashOf(resource) } : {}),
    subresources: builtin
      ? builtin.map(({ name, kind: shown, group = '', version = '', verbs: served }) => ({
          name,
          responseKind: { group, version, kind: shown },
          verbs: served,
        }))
      : Object.entries(resource.subresources).map(([name, { kind: shown, verbs: served }]) => ({
          name,
          responseKind: shown ? { group: shown.group, version: shown.version, kind: shown.kind } : own,
          verbs: served,
        })),
  }
}

/** The hashes of built-in kinds. All servers of the process share them, because simulations start many. */
const builtinHashes = new Map<string, string>()

function hashOf({ storage, origin, kind }: Resource): string {
  if (origin === builtinOrigin) {
    const key = `${kind.apiVersion}/${kind.kind}`
    const hash = builtinHashes.get(key) ?? storageVersionHash(kind)
    builtinHashes.set(key, hash)
    return hash
  }
  const { group, version } = parseGroupVersion(storage.apiVersion)
  return storageVersionHash({ group, version, kind: storage.kind })
}
