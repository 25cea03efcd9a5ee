import { defineResource, type Infer, isNotFound } from '@kubewright/api'
import { PersistentVolumeClaim, StatefulSet } from '@kubewright/k8s'
import { can, defineController, watch } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { type Planted, plant } from './things.ts'

/** A kind with a volume that can grow. */
export const Disk = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Disk',
  spec: s.object({
    gib: s.int({ minimum: 1, maximum: 9 }).rule('self >= oldSelf', 'cannot shrink'),
    replicas: s.int({ minimum: 1, maximum: 2 }).default(1),
  }),
  status: s.object({ gib: s.int().optional() }).optional(),
})
export type Disk = Infer<typeof Disk>

const samples = [Disk({ metadata: { name: 'disk' }, spec: { gib: 1, replicas: 1 } })]

const claimSpec = (gib: number) => ({
  accessModes: ['ReadWriteOnce' as const],
  resources: { requests: { storage: `${gib}Gi` } },
})

const workloadOf = ({ metadata: { name }, spec }: Disk, labels: Record<string, string>) =>
  StatefulSet({
    metadata: { name },
    spec: {
      replicas: spec.replicas,
      serviceName: name,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
      volumeClaimTemplates: [{ metadata: { name: 'data', labels }, spec: claimSpec(1) }],
    },
  })

const ignoreMissing = (error: unknown): void => {
  if (!isNotFound(error)) throw error
}

/** Mistakes about the data of instances. */
export const plantedVolumes: Readonly<Record<string, Planted>> = {
  'deletes the volumes of other instances': plant(
    'deletion',
    (isFixed) =>
      defineController(Disk, {
        owns: [StatefulSet],
        rbac: [can(PersistentVolumeClaim, 'list', 'delete'), can(StatefulSet, 'get', 'delete')],
        async reconcile(disk, { apply }) {
          await apply(workloadOf(disk, { app: 'planted', disk: disk.metadata.name }))
        },
        async cleanup({ metadata: { name, namespace = '', uid } }, { client }) {
          const found = await client.find(StatefulSet, { name, namespace }, { consistency: 'live' })
          if (found?.metadata.ownerReferences?.some((owner) => owner.uid === uid)) {
            if (found.metadata.deletionTimestamp === undefined) {
              const options = { propagationPolicy: 'Foreground', preconditions: { uid: found.metadata.uid } } as const
              await client.delete(StatefulSet, { name, namespace }, options).catch(ignoreMissing)
            }
            return { requeueAfter: '2s' }
          }
          // An old view must not delete the volumes of a new object with the same name.
          const live = await client.find(Disk, { name, namespace }, { consistency: 'live' })
          if (live?.metadata.uid !== uid) return undefined
          const labels = { app: 'planted', ...(isFixed ? { disk: name } : {}) }
          for (const { metadata } of await client.list(PersistentVolumeClaim, { namespace, labels })) {
            await client.delete(PersistentVolumeClaim, metadata).catch(ignoreMissing)
          }
          return undefined
        },
      }),
    { samples },
  ),
  'forgets to enlarge a volume after a crash': plant(
    'end state',
    (isFixed) =>
      defineController(Disk, {
        owns: [PersistentVolumeClaim],
        rbac: [can(PersistentVolumeClaim, 'get', 'patch')],
        async reconcile({ metadata: { name, namespace = '' }, spec: { gib }, status }, { apply, client, mergeStatus }) {
          const key = { name, namespace }
          if (isFixed || (await client.find(PersistentVolumeClaim, key, { consistency: 'live' })) === undefined) {
            await apply(PersistentVolumeClaim({ metadata: { name }, spec: claimSpec(gib) }))
          } else if (status?.gib !== undefined && status.gib < gib) {
            await mergeStatus({ gib })
            await client.patch(PersistentVolumeClaim, key, { spec: claimSpec(gib) })
          }
          await mergeStatus({ gib })
        },
      }),
    { samples },
  ),
  'deletes the volumes of a StatefulSet without a status': plant(
    'data',
    (isFixed) =>
      defineController(Disk, {
        owns: [StatefulSet],
        watches: [
          watch(PersistentVolumeClaim, ({ metadata }) => [metadata.labels?.['disk'] ?? ''], { selector: 'disk' }),
        ],
        rbac: [can(PersistentVolumeClaim, 'delete')],
        async reconcile(disk, { apply, client }) {
          const { name, namespace = '' } = disk.metadata
          const labels = { disk: name }
          const { status, metadata } = await apply(workloadOf(disk, labels))
          // A new StatefulSet has no replicas yet, but its claims may be old.
          const isSeen = status?.observedGeneration === metadata.generation
          // An old view may have fewer replicas.
          const live = await client.get(Disk, { name, namespace }, { consistency: 'live' })
          const used = isFixed
            ? Math.max(live.spec.replicas, isSeen ? (status?.replicas ?? 0) : Infinity)
            : (status?.replicas ?? 0)
          for (const claim of await client.list(PersistentVolumeClaim, { namespace, labels })) {
            const { name: claimName, uid, deletionTimestamp } = claim.metadata
            if (deletionTimestamp !== undefined || Number(claimName.replace(/.*-/, '')) < used) continue
            const options = { preconditions: { uid } }
            await client.delete(PersistentVolumeClaim, { name: claimName, namespace }, options).catch(ignoreMissing)
          }
        },
      }),
    { samples },
  ),
}
