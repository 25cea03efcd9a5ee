import {
  claimProtection,
  ephemeralVolumeController,
  garbageCollector,
  simulatedProvisioner,
  volumeBinder,
  volumeProtection,
} from '@kubewright/controllers'
import { Event, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { type Plane, startPlane } from './plane.ts'

const controllers = [volumeBinder, claimProtection, volumeProtection]
const resources = (storage: string) => ({ requests: { storage } })
const volume = (name: string, storage: string, more: object = {}) =>
  PersistentVolume({
    metadata: { name },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage },
      hostPath: { path: '/data' },
      persistentVolumeReclaimPolicy: 'Retain',
      ...more,
    },
  })
const claim = (name: string, storage: string, more: object = {}) =>
  PersistentVolumeClaim({
    metadata: { name, namespace: 'test' },
    spec: { accessModes: ['ReadWriteOnce'], resources: resources(storage), ...more },
  })
const podWith = (name: string, claimName: string, nodeName?: string) =>
  Pod({
    metadata: { name, namespace: 'test' },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }],
      ...(nodeName === undefined ? {} : { nodeName }),
    },
  })
const storageClass = (name: string, provisioner: string, more: object = {}) =>
  StorageClass({ metadata: { name }, provisioner, ...more })

async function reasons(plane: Plane, name: string): Promise<(string | undefined)[]> {
  await plane.advance('2s')
  const events = await plane.api.list(Event, { namespace: 'test' })
  return events
    .filter(({ involvedObject }) => involvedObject.name === name)
    .map(({ reason, message }) => `${reason}: ${message}`)
}

test('a claim is bound to the smallest matching volume, which is released when the claim is deleted', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(volume('large', '10Gi'))
  await api.create(volume('small', '2Gi'))
  await api.create(volume('tiny', '1Gi'))
  await api.create(claim('data', '2G', { storageClassName: '' }))
  await plane.settle()
  const bound = await api.get(PersistentVolumeClaim, 'test/data')
  expect(bound).toMatchObject({
    metadata: {
      annotations: { 'pv.kubernetes.io/bind-completed': 'yes', 'pv.kubernetes.io/bound-by-controller': 'yes' },
    },
    spec: { volumeName: 'small' },
    status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } },
  })
  expect(await api.get(PersistentVolume, 'small')).toMatchObject({
    metadata: { annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' } },
    spec: { claimRef: { kind: 'PersistentVolumeClaim', namespace: 'test', name: 'data', uid: bound.metadata.uid } },
    status: { phase: 'Bound' },
  })
  expect((await api.get(PersistentVolume, 'large')).status?.phase).toBe('Available')
  await api.delete(PersistentVolumeClaim, 'test/data')
  await plane.settle()
  expect(await api.find(PersistentVolumeClaim, 'test/data')).toBeUndefined()
  expect((await api.get(PersistentVolume, 'small')).status?.phase).toBe('Released')
  expect(plane.errors()).toEqual([])
})

test('a claim without a matching volume stays pending and records an event', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(volume('tiny', '1Gi'))
  await api.create(claim('data', '2Gi'))
  expect(await reasons(plane, 'data')).toEqual([
    'FailedBinding: no persistent volumes available for this claim and no storage class is set',
  ])
  expect((await api.get(PersistentVolumeClaim, 'test/data')).status?.phase).toBe('Pending')
  await api.create(volume('large', '3Gi'))
  await plane.settle()
  expect((await api.get(PersistentVolumeClaim, 'test/data')).status?.phase).toBe('Bound')
})

test('the simulated provisioner creates a volume that is deleted with its claim', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(storageClass('fast', simulatedProvisioner))
  await api.create(claim('data', '5Gi', { storageClassName: 'fast' }))
  await plane.advance('2s')
  const events = await api.list(Event, { namespace: 'test' })
  expect(events.map(({ reason, reportingComponent }) => `${reason} ${reportingComponent}`).sort()).toEqual([
    'ExternalProvisioning persistentvolume-controller',
    'ProvisioningSucceeded simulated.kubewright.dev',
  ])
  const bound = await api.get(PersistentVolumeClaim, 'test/data')
  const name = `pvc-${bound.metadata.uid}`
  expect(bound).toMatchObject({ spec: { volumeName: name }, status: { phase: 'Bound', capacity: { storage: '5Gi' } } })
  expect((await api.get(PersistentVolume, name)).spec).toMatchObject({
    persistentVolumeReclaimPolicy: 'Delete',
    storageClassName: 'fast',
  })
  await api.delete(PersistentVolumeClaim, 'test/data')
  await plane.settle()
  expect(await api.find(PersistentVolume, name)).toBeUndefined()
  expect(plane.errors()).toEqual([])
})

test('a claim is passed to an external provisioner, and WaitForFirstConsumer delays it', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(storageClass('other', 'example.com/disk'))
  await api.create(storageClass('late', simulatedProvisioner, { volumeBindingMode: 'WaitForFirstConsumer' }))
  await api.create(claim('asked', '1Gi', { storageClassName: 'other' }))
  await api.create(claim('late', '1Gi', { storageClassName: 'late' }))
  await api.create(claim('lost', '1Gi', { storageClassName: 'none' }))
  expect((await reasons(plane, 'asked'))[0]).toMatch(/^ExternalProvisioning: .*'example.com\/disk'/)
  expect(await reasons(plane, 'late')).toEqual([
    'WaitForFirstConsumer: waiting for first consumer to be created before binding',
  ])
  expect(await reasons(plane, 'lost')).toEqual(['ProvisioningFailed: storageclass.storage.k8s.io "none" not found'])
  await api.create(podWith('p', 'late'))
  await plane.settle()
  expect((await api.get(PersistentVolumeClaim, 'test/late')).status?.phase).toBe('Bound')
})

test('a claim gets a later default class, and a claim reports the loss of its volume', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(claim('data', '1Gi'))
  await plane.settle()
  const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
  await api.create(StorageClass({ metadata: { name: 'usual', annotations }, provisioner: simulatedProvisioner }))
  await plane.settle()
  const bound = await api.get(PersistentVolumeClaim, 'test/data')
  expect([bound.spec?.storageClassName, bound.status?.phase]).toEqual(['usual', 'Bound'])
  const { volumeName = '' } = bound.spec ?? {}
  await api.delete(PersistentVolume, volumeName)
  await plane.settle()
  // Protected while it is bound.
  expect((await api.get(PersistentVolume, volumeName)).metadata.deletionTimestamp).toBeDefined()
  await api.patch(PersistentVolume, volumeName, { metadata: { finalizers: null } } as never)
  expect(await reasons(plane, 'data')).toContain(
    'ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  )
  expect((await api.get(PersistentVolumeClaim, 'test/data')).status?.phase).toBe('Lost')
})

test('a claim in use is deleted only after its pod', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(claim('data', '1Gi'))
  await api.create(podWith('p', 'data', 'n'))
  await api.create(podWith('unscheduled', 'data'))
  await api.delete(PersistentVolumeClaim, 'test/data')
  await plane.settle()
  expect(await api.find(PersistentVolumeClaim, 'test/data')).toBeDefined()
  await api.delete(Pod, 'test/p', { gracePeriodSeconds: 0 })
  await plane.settle()
  expect(await api.find(PersistentVolumeClaim, 'test/data')).toBeUndefined()
})

test('a volume with a claimRef is reserved for its claim, and a failed deletion is reported', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  const claimRef = { namespace: 'test', name: 'mine' }
  await api.create(volume('reserved', '9Gi', { claimRef, persistentVolumeReclaimPolicy: 'Delete' }))
  await api.create(claim('other', '1Gi', { storageClassName: '' }))
  await plane.settle()
  expect((await api.get(PersistentVolumeClaim, 'test/other')).status?.phase).toBe('Pending')
  await api.create(claim('mine', '1Gi', { storageClassName: '' }))
  await plane.settle()
  expect((await api.get(PersistentVolumeClaim, 'test/mine')).spec?.volumeName).toBe('reserved')
  expect((await api.get(PersistentVolume, 'reserved')).metadata.annotations).toBeUndefined()
  await api.delete(PersistentVolumeClaim, 'test/mine')
  await plane.settle()
  expect((await api.get(PersistentVolume, 'reserved')).status).toMatchObject({
    phase: 'Failed',
    message: 'error getting deleter volume plugin for volume "reserved": no deletable volume plugin matched',
  })
})

test('an ephemeral volume gets a claim that is deleted with its pod', async () => {
  await using plane = await startPlane({ controllers: [...controllers, ephemeralVolumeController, garbageCollector()] })
  const { api } = plane
  await api.create(storageClass('fast', simulatedProvisioner))
  const volumeClaimTemplate = {
    metadata: { labels: { kind: 'scratch' } },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: resources('1Gi') },
  }
  const spec = {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }],
  }
  await api.create(Pod({ metadata: { name: 'p', namespace: 'test' }, spec: spec as never }))
  await plane.settle()
  expect(await api.get(PersistentVolumeClaim, 'test/p-scratch')).toMatchObject({
    metadata: { labels: { kind: 'scratch' }, ownerReferences: [{ kind: 'Pod', name: 'p', controller: true }] },
    status: { phase: 'Bound' },
  })
  await api.delete(Pod, 'test/p', { gracePeriodSeconds: 0 })
  await plane.advance('1s')
  expect(await api.list(PersistentVolumeClaim, { namespace: 'test' })).toEqual([])
  expect(await api.list(PersistentVolume)).toEqual([])
})
