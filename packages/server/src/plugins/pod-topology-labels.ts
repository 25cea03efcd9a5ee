import type { AdmissionPlugin } from '../admission/admission.ts'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import type { MutableObject } from '../resource/object.ts'

const nodes = ['', 'v1', 'nodes'] as const
const topology = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region']

/** Copies the zone and region labels of the node to a pod when it is bound, so that containers can read them. */
export function podTopologyLabels(lookup: ObjectLookup): AdmissionPlugin {
  return {
    name: 'PodTopologyLabels',
    resources: ['/pods'],
    mutate: async ({ resource, subresource, operation, object }) => {
      if (resource.kind.group !== '' || resource.kind.plural !== 'pods' || operation !== 'CREATE' || !object) return
      const name = subresource === '' ? nodeOf(object) : subresource === 'binding' ? targetOf(object) : undefined
      const node = name ? await lookup.find(nodes, '', name) : undefined
      for (const key of topology) {
        const value = node?.metadata.labels?.[key]
        if (value !== undefined) object.metadata.labels = { ...object.metadata.labels, [key]: value }
      }
    },
  }
}

function nodeOf(pod: MutableObject): string | undefined {
  return (pod['spec'] as { nodeName?: string | undefined } | undefined)?.nodeName
}

function targetOf(binding: MutableObject): string | undefined {
  const target = binding['target'] as { kind?: string | undefined; name?: string | undefined } | undefined
  return target?.kind === 'Node' ? target.name : undefined
}
