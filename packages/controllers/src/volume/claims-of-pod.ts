import type { Pod } from '@kubewright/k8s'

/** The keys of the claims that a pod uses, including those of its ephemeral volumes. */
export function claimsOf({ metadata: { name, namespace }, spec }: Pod): string[] {
  return (spec.volumes ?? []).flatMap((volume) => {
    if (volume.persistentVolumeClaim !== undefined) return [`${namespace}/${volume.persistentVolumeClaim.claimName}`]
    return volume.ephemeral === undefined ? [] : [`${namespace}/${name}-${volume.name}`]
  })
}
