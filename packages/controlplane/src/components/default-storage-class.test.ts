import { PersistentVolumeClaim, StorageClass } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { startControlPlane } from '../host/start-control-plane.ts'

describe('startControlPlane()', () => {
  test('with simulated nodes, binds claims without a class to simulated volumes', async () => {
    await using plane = await startControlPlane({ controllers: ['persistentvolume-binder-controller'] })
    const client = plane.client()
    const resources = { requests: { storage: '1Gi' } }
    const spec = { accessModes: ['ReadWriteOnce'] as const, resources }
    await client.create(PersistentVolumeClaim({ metadata: { name: 'data', namespace: 'default' }, spec }))
    const phase = async () => (await client.get(PersistentVolumeClaim, 'default/data')).status?.phase
    await expect.poll(phase).toBe('Bound')
    const { storageClassName } = (await client.get(PersistentVolumeClaim, 'default/data')).spec ?? {}
    expect(storageClassName).toBe('standard')
  })

  test('creates no StorageClass without nodes, and no second one', async () => {
    await using empty = await startControlPlane({ controllers: ['persistentvolume-binder-controller'], nodes: 0 })
    expect(await empty.client().list(StorageClass)).toEqual([])
    await empty.client().create(StorageClass({ metadata: { name: 'mine' }, provisioner: 'example.com/disk' }))
    const snapshot = empty.snapshot()
    await using plane = await snapshot.start({ controllers: ['persistentvolume-binder-controller'], nodes: 1 })
    expect((await plane.client().list(StorageClass)).map(({ metadata }) => metadata.name)).toEqual(['mine'])
    await snapshot[Symbol.asyncDispose]()
  })
})
