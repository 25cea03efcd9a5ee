import { isNotFound, type KubeObject, keyOf, parseKey } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { PersistentVolume, PersistentVolumeClaim, Pod, VolumeAttributesClass } from '@kubewright/k8s'
import { changed, type KeyController, kindSource } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { claimsOf } from './claims-of-pod.ts'

const claimFinalizer = 'kubernetes.io/pvc-protection'
const volumeFinalizer = 'kubernetes.io/pv-protection'
const classFinalizer = 'kubernetes.io/vac-protection'

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

/** Protects a VolumeAttributesClass from deletion while a claim or a volume uses it. */
export const attributesClassProtection: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'volumeattributesclass-protection-controller',
  kind: VolumeAttributesClass,
  sources: [
    kindSource(VolumeAttributesClass),
    // Claims and volumes that stop using a class may end its protection.
    kindSource(PersistentVolumeClaim, { map: (_, context) => deletedClasses(context.client) }),
    kindSource(PersistentVolume, { map: (_, context) => deletedClasses(context.client) }),
  ],
  start:
    ({ cluster: { api } }) =>
    async (name, { client, signal }) => {
      const found = await client.find(VolumeAttributesClass, name)
      const wanted = found && wantedFinalizers(found, classFinalizer)
      if (found === undefined || wanted === undefined) return
      if (found.metadata.deletionTimestamp !== undefined) {
        // The deletion is irreversible, so the server confirms that the class is unused.
        const claims = await api.list(PersistentVolumeClaim, { namespace: '', signal })
        if (claims.some((claim) => classesOfClaim(claim).includes(name))) return
        const volumes = await api.list(PersistentVolume, { signal })
        if (volumes.some(({ spec }) => spec?.volumeAttributesClassName === name)) return
      }
      await unlessGone(() => client.update({ ...found, metadata: { ...found.metadata, finalizers: wanted } }))
    },
})

async function deletedClasses(client: Client): Promise<string[]> {
  const classes = await client.list(VolumeAttributesClass)
  return classes.flatMap(({ metadata }) => (metadata.deletionTimestamp === undefined ? [] : [metadata.name]))
}

function classesOfClaim({ spec, status }: PersistentVolumeClaim): (string | undefined)[] {
  const { currentVolumeAttributesClassName, modifyVolumeStatus } = status ?? {}
  return [
    spec?.volumeAttributesClassName,
    currentVolumeAttributesClassName,
    modifyVolumeStatus?.targetVolumeAttributesClassName,
  ]
}

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
