import { compareValues } from '@kubewright/base'
import type { CallOptions, Discovery, ServedResource } from '@kubewright/client'
import type { KindInfo } from '../wire/names.ts'

/** The kinds that can be listed, in their preferred versions: custom kinds first, then by group and name. */
export async function listKinds(discovery: Discovery, options: CallOptions = {}): Promise<KindInfo[]> {
  const groups = await discovery.groups(options)
  const kinds = new Map<string, KindInfo>()
  for (const { versions } of groups) {
    for (const { resources } of versions) {
      for (const resource of resources) {
        const name = `${resource.group}/${resource.plural}`
        // The preferred version comes first.
        if (resource.verbs.includes('list') && !kinds.has(name)) kinds.set(name, kindInfo(resource))
      }
    }
  }
  return [...kinds.values()].sort(
    (a, b) => Number(b.custom) - Number(a.custom) || compareValues(a.group, b.group) || compareValues(a.kind, b.kind),
  )
}

function kindInfo(resource: ServedResource): KindInfo {
  const { group, version, plural, kind, scope, shortNames, verbs, subresources } = resource
  return {
    group,
    version,
    plural,
    kind,
    namespaced: scope === 'Namespaced',
    shortNames,
    verbs,
    subresources,
    custom: !isBuiltinGroup(group),
  }
}

/** The groups of Kubernetes have no dot or end in k8s.io, which is reserved for them. */
function isBuiltinGroup(group: string): boolean {
  return !group.includes('.') || group === 'k8s.io' || group.endsWith('.k8s.io')
}
