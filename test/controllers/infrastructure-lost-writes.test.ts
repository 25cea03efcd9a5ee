// Like lost-writes.test.ts, for controllers other than workload controllers.
import type { KubeObject } from '@kubewright/api'
import { simulatedProvisioner } from '@kubewright/controllers'
import {
  ConfigMap,
  EndpointSlice,
  Endpoints,
  Namespace,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Service,
  StorageClass,
} from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { loseEachWrite } from './lose-each-write.ts'

const both = ['before', 'after'] as const
const meta = (name: string, more: object = {}) => ({ name, namespace: 'test', ...more })
const ownedBy = (owner: KubeObject) => {
  const { apiVersion, kind, metadata } = owner
  return [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, blockOwnerDeletion: true }]
}

test.each(both)(
  'garbage is collected when a write is lost %s its execution',
  async (when) => {
    await loseEachWrite(/garbage-collector-controller$/, when, async ({ api, advance }) => {
      const make = (name: string, ownerReferences: ReturnType<typeof ownedBy> = []) =>
        api.create(ConfigMap({ metadata: meta(name, { ownerReferences }) }))
      for (const policy of ['Background', 'Foreground', 'Orphan'] as const) {
        const prefix = policy.toLowerCase()
        const top = await make(`${prefix}-top`)
        const middle = await make(`${prefix}-middle`, ownedBy(top))
        await make(`${prefix}-shared`, [...ownedBy(top), ...ownedBy(await make(`${prefix}-other`))])
        await make(`${prefix}-leaf`, ownedBy(middle))
        await api.delete(ConfigMap, `test/${prefix}-top`, { propagationPolicy: policy })
      }
      await advance('2m')
      const left = await api.list(ConfigMap, { namespace: 'test' })
      expect(left.map(({ metadata }) => metadata.name).sort()).toEqual([
        'background-other',
        'background-shared',
        'foreground-other',
        'foreground-shared',
        'orphan-leaf',
        'orphan-middle',
        'orphan-other',
        'orphan-shared',
      ])
      const shared = left.filter(({ metadata }) => metadata.name.endsWith('shared'))
      expect(shared.map(({ metadata }) => metadata.ownerReferences?.length)).toEqual([1, 1, 1])
    })
  },
  120_000,
)

test.each(both)(
  'each claim gets one volume when a write is lost %s its execution',
  async (when) => {
    await loseEachWrite(/persistentvolume/, when, async ({ api, advance }) => {
      const accessModes = ['ReadWriteOnce'] as const
      const resources = { requests: { storage: '1Gi' } }
      await api.create(StorageClass({ metadata: { name: 'made' }, provisioner: simulatedProvisioner }))
      await api.create(
        PersistentVolume({
          metadata: { name: 'there' },
          spec: { accessModes: [...accessModes], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } },
        }),
      )
      for (const [name, storageClassName] of [
        ['a', ''],
        ['b', 'made'],
      ] as const) {
        const spec = { accessModes: [...accessModes], resources, storageClassName }
        await api.create(PersistentVolumeClaim({ metadata: meta(name), spec }))
      }
      await advance('1m')
      const claims = await api.list(PersistentVolumeClaim, { namespace: 'test' })
      expect(claims.map(({ status }) => status?.phase)).toEqual(['Bound', 'Bound'])
      const volumes = await api.list(PersistentVolume)
      expect(volumes.map(({ spec }) => spec?.claimRef?.name).sort()).toEqual(['a', 'b'])
      for (const name of ['a', 'b']) await api.delete(PersistentVolumeClaim, `test/${name}`)
      await advance('1m')
      expect(await api.list(PersistentVolumeClaim, { namespace: 'test' })).toEqual([])
      const left = await api.list(PersistentVolume)
      expect(left.map(({ metadata, status }) => `${metadata.name} ${status?.phase}`)).toEqual(['there Released'])
    })
  },
  120_000,
)

test('services get their endpoints once and namespaces are deleted when a response is lost', async () => {
  await loseEachWrite(
    /endpoint|namespace|garbage-collector-controller$|serviceaccount/,
    'after',
    async ({ api, advance }) => {
      const namespace = 'going'
      await api.create(Namespace({ metadata: { name: namespace } }))
      await advance('10s')
      const selector = { app: 'web' }
      await api.create(Service({ metadata: { name: 's', namespace }, spec: { selector, ports: [{ port: 80 }] } }))
      const containers = [{ name: 'c', image: 'i' }]
      await api.create(Pod({ metadata: { name: 'p', namespace, labels: selector }, spec: { containers } }))
      await advance('1m')
      const { podIP: ip } = (await api.get(Pod, `${namespace}/p`)).status ?? {}
      expect(ip).toBeDefined()
      const endpoints = await api.get(Endpoints, `${namespace}/s`)
      expect(endpoints.subsets?.map(({ addresses }) => addresses?.map((one) => one.ip))).toEqual([[ip]])
      const slices = await api.list(EndpointSlice, { namespace })
      const shown = slices.flatMap((slice) => slice.endpoints ?? []).flatMap(({ addresses }) => addresses)
      expect([...new Set(shown)]).toEqual([ip])
      await api.delete(Namespace, namespace)
      await advance('2m')
      expect(await api.find(Namespace, namespace)).toBeUndefined()
      expect(await api.list(EndpointSlice, { namespace })).toEqual([])
    },
  )
}, 180_000)
