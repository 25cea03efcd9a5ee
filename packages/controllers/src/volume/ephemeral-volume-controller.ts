import { controllerOf, controllerRef, isAlreadyExists, parseKey } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'
import { PersistentVolumeClaim, type PersistentVolumeClaimDraft, Pod } from '@kubewright/k8s'
import { changed, type KeyController, kindSource, when } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { isNamespaceTerminating } from '../workload/pod-control.ts'
import { controlled } from '../workload/sources.ts'

const hasEphemeralVolume = ({ spec }: Pod): boolean => spec.volumes?.some(({ ephemeral }) => ephemeral) ?? false

/** Creates the claims of ephemeral volumes, which are deleted with their pod. */
export const ephemeralVolumeController: KeyController = /* @__PURE__ */ defineBuiltinController({
  name: 'ephemeral-volume-controller',
  reporter: 'ephemeral_volume',
  kind: Pod,
  sources: [
    kindSource(Pod, { predicates: [when<Pod>(hasEphemeralVolume), changed('spec.volumes')] }),
    controlled(PersistentVolumeClaim, Pod),
  ],
  start:
    () =>
    async (key, { client }) => {
      const pod = await client.find(Pod, parseKey(key))
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return
      const { namespace = '' } = pod.metadata
      for (const { name: volume, ephemeral } of pod.spec.volumes ?? []) {
        const template = ephemeral?.volumeClaimTemplate
        if (template === undefined) continue
        const name = `${pod.metadata.name}-${volume}`
        const found = await client.find(PersistentVolumeClaim, { name, namespace })
        if (found !== undefined) {
          if (controllerOf(found)?.uid === pod.metadata.uid) continue
          const [claim, user] = [`${namespace}/${name}`, `${namespace}/${pod.metadata.name}`].map((of) =>
            JSON.stringify(of),
          )
          throw new CaughtError(`PVC ${claim} was not created for pod ${user} (pod is not owner)`)
        }
        const { annotations, labels } = template.metadata ?? {}
        const metadata = {
          name,
          namespace,
          ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
          ...(labels === undefined ? {} : { labels: { ...labels } }),
          ownerReferences: [controllerRef(pod)],
        }
        try {
          // The types for reading and writing have the same schema.
          const spec = template.spec as NonNullable<PersistentVolumeClaimDraft['spec']>
          await client.create(PersistentVolumeClaim({ metadata, spec }))
        } catch (error) {
          if (isNamespaceTerminating(error)) return
          if (!isAlreadyExists(error)) throw error
        }
      }
    },
})
