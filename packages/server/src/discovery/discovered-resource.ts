import { parseGroupVersion } from '@kubewright/api'
import { discoveryGroups, type SubresourceDiscovery } from '@kubewright/k8s/discovery'
import { builtinOrigin } from '../resource/origin.ts'
import type { Resource } from '../resource/resource.ts'
import { storageVersionHash } from './storage-version-hash.ts'

/** A kind as discovery shows it; group and version are empty where they are those of the resource. */
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

/** A resource as discovery shows it, in whichever form. */
export interface DiscoveredResource {
  readonly name: string
  readonly responseKind: ResponseKind
  readonly singular: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /** Absent for what is not stored. */
  readonly storageVersionHash?: string
  readonly subresources: readonly DiscoveredSubresource[]
}

const builtinSubresources = new Map<string, readonly SubresourceDiscovery[]>()
for (const { group, versions } of discoveryGroups()) {
  for (const { version, resources } of versions) {
    for (const { resource, subresources } of resources) {
      builtinSubresources.set(`${group}/${version}/${resource}`, subresources ?? [])
    }
  }
}

/**
 * What discovery says about a resource of the table. Built-in resources name the kinds of their subresources in the recorded facts
 * of Kubernetes; custom ones are shown as they are, with their full kind, as the real server does.
 */
export function discoveredResource(resource: Resource): DiscoveredResource {
  let found = discovered.get(resource)
  if (!found) discovered.set(resource, (found = describe(resource)))
  return found
}

/** Resources do not change, and every change of the table asks about all of them. */
const discovered = new WeakMap<Resource, DiscoveredResource>()

function describe(resource: Resource): DiscoveredResource {
  const { kind } = resource
  const verbs = resource.listedVerbs ?? resource.verbs
  const builtin =
    resource.origin === builtinOrigin
      ? builtinSubresources.get(`${kind.group}/${kind.version}/${kind.plural}`)
      : undefined
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

function hashOf({ storage, origin, kind }: Resource): string {
  if (origin === builtinOrigin) return storageVersionHash(kind)
  const { group, version } = parseGroupVersion(storage.apiVersion)
  return storageVersionHash({ group, version, kind: storage.kind })
}
