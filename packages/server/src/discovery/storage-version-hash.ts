import { createHash } from 'node:crypto'

// Kinds that Kubernetes v1.35 stores in another version than the one it prefers to serve.
const storedElsewhere: Readonly<Record<string, string>> = {
  'events.k8s.io/Event': '/v1/Event',
  'autoscaling/HorizontalPodAutoscaler': 'autoscaling/v2/HorizontalPodAutoscaler',
  'storage.k8s.io/VolumeAttributesClass': 'storage.k8s.io/v1beta1/VolumeAttributesClass',
  'apiextensions.k8s.io/CustomResourceDefinition': 'apiextensions.k8s.io/v1beta1/CustomResourceDefinition',
}

/** What discovery shows of the version that a kind is stored in: clients see that it changed, and nothing more. */
export function storageVersionHash(kind: { group: string; version: string; kind: string }): string {
  const name = storedElsewhere[`${kind.group}/${kind.kind}`] ?? `${kind.group}/${kind.version}/${kind.kind}`
  return createHash('sha256').update(name).digest().subarray(0, 8).toString('base64')
}
