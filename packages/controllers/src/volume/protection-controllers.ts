import { isNotFound, type KubeObject, keyOf, parseKey } from '@kubewright/api'
import { PersistentVolume, PersistentVolumeClaim, Pod } from '@kubewright/k8s'
import { changed, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { claimsOf } from './claims-of-pod.ts'

const claimFinalizer = 'kubernetes.io/pvc-protection'
const volumeFinalizer = 'kubernetes.io/pv-protection'

/** Protects a claim from deletion while a pod uses it. */
export const claimProtection: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'persistentvolumeclaim-protection-controller',
  kind: PersistentVolumeClaim,
  sources: [
    kindSource(PersistentVolumeClaim),
    kindSource(Pod, { predicates: [changed('spec.nodeName', 'spec.volumes')], map: claimsOf }),
  ],
  start:
    ({ cluster: { api } }) =>
    async (key, { client, signal }) => {
      const claim = await client.find(PersistentVolumeClaim, parseKey(key))
      const wanted = claim && wantedFinalizers(claim, claimFinalizer)
      if (claim === undefined || wanted === undefined) return
      if (claim.metadata.deletionTimestamp !== undefined) {
        const { namespace = '' } = claim.metadata
        // Only pods bound to a node count: a pending pod has not started to use the claim.
        const isUsed = (pods: readonly Pod[]): boolean =>
          pods.some((pod) => (pod.spec.nodeName ?? '') !== '' && claimsOf(pod).includes(keyOf(claim)))
        if (isUsed(await client.list(Pod, { namespace }))) return
        // The cache may lack a new pod, and deleting a claim is irreversible: confirm with the server.
        if (isUsed(await api.list(Pod, { namespace, signal }))) return
      }
      await unlessGone(() => client.update({ ...claim, metadata: { ...claim.metadata, finalizers: wanted } }))
    },
})

/** Protects a volume from deletion while a claim is bound to it. */
export const volumeProtection: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'persistentvolume-protection-controller',
  kind: PersistentVolume,
  sources: [kindSource(PersistentVolume)],
  start:
    () =>
    async (name, { client }) => {
      const volume = await client.find(PersistentVolume, name)
      const wanted = volume && wantedFinalizers(volume, volumeFinalizer)
      if (volume === undefined || wanted === undefined) return
      if (volume.metadata.deletionTimestamp !== undefined && volume.status?.phase === 'Bound') return
      await unlessGone(() => client.update({ ...volume, metadata: { ...volume.metadata, finalizers: wanted } }))
    },
})

/** The finalizers to write: without ours when the object is being deleted, else with ours; undefined when unchanged. */
function wantedFinalizers(object: KubeObject, finalizer: string): string[] | undefined {
  const { deletionTimestamp, finalizers = [] } = object.metadata
  const goes = deletionTimestamp !== undefined
  if (goes !== finalizers.includes(finalizer)) return undefined
  return goes ? finalizers.filter((name) => name !== finalizer) : [...finalizers, finalizer]
}

async function unlessGone(write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}
