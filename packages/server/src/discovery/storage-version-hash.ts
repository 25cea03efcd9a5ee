import { createHash } from 'node:crypto'

// Kinds whose storage version in Kubernetes v1.35 is not their preferred version.
const storedElsewhere: Readonly<Record<string, string>> = {
  'events.k8s.io/Event': '/v1/Event',
  'autoscaling/HorizontalPodAutoscaler': 'autoscaling/v2/HorizontalPodAutoscaler',
  'storage.k8s.io/VolumeAttributesClass': 'storage.k8s.io/v1beta1/VolumeAttributesClass',
  'apiextensions.k8s.io/CustomResourceDefinition': 'apiextensions.k8s.io/v1beta1/CustomResourceDefinition',
}

/** The hash by which clients detect a change of a kind's storage version. */
export function storageVersionHash(kind: { group: string; version: string; kind: string }): string {
  const name = storedElsewhere[`${kind.group}/${kind.kind}`] ?? `${kind.group}/${kind.version}/${kind.kind}`
  return createHash('sha256').update(name).digest().subarray(0, 8).toString('base64')
}
