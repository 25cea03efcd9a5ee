import type { DiscoveredResource, ResponseKind } from './discovered-resource.ts'
import type { DiscoveredGroup, DiscoveredVersion } from './discovery-index.ts'

/** The document of /api, which has no apiVersion. */
export function apiVersions(versions: readonly string[], serverAddress: string): Record<string, unknown> {
  return {
    kind: 'APIVersions',
    versions,
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  }
}

/** The document of /apis. */
export function apiGroupList(groups: readonly DiscoveredGroup[]): Record<string, unknown> {
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupSummary) }
}

/** The document of /apis/<group>. */
export function apiGroup(group: DiscoveredGroup): Record<string, unknown> {
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupSummary(group) }
}

/** The document of /api/<version> and /apis/<group>/<version>. That of the core group has no apiVersion. */
export function apiResourceList(group: string, { version, resources }: DiscoveredVersion): Record<string, unknown> {
  return {
    kind: 'APIResourceList',
    ...(group === '' ? {} : { apiVersion: 'v1' }),
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: resources.flatMap(apiResources),
  }
}

function groupSummary({ name, versions }: DiscoveredGroup): Record<string, unknown> {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }))
  return { name, versions: listed, preferredVersion: listed[0] }
}

/** The list entries of a resource and its subresources. */
function apiResources(resource: DiscoveredResource): Record<string, unknown>[] {
  const { name, singular, scope, verbs, shortNames, categories, storageVersionHash } = resource
  const namespaced = scope === 'Namespaced'
  return [
    {
      name,
      singularName: singular,
      namespaced,
      kind: resource.responseKind.kind,
      verbs,
      ...(shortNames.length > 0 ? { shortNames } : {}),
      ...(categories.length > 0 ? { categories } : {}),
      ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
    },
    ...resource.subresources.map((sub) => ({
      name: `${name}/${sub.name}`,
      singularName: '',
      namespaced,
      ...foreignGroup(sub.responseKind, resource.responseKind),
      kind: sub.responseKind.kind,
      verbs: sub.verbs,
    })),
  ]
}

/** Group and version of a kind when they differ from those of the list. */
function foreignGroup(
  shown: ResponseKind,
  own: ResponseKind,
): { group?: string | undefined; version?: string | undefined } {
  if (shown.group === own.group && shown.version === own.version) return {}
  return { ...(shown.group === '' ? {} : { group: shown.group }), version: shown.version }
}
