import { findCondition } from '@kubewright/api'
import { builtinControllers, trustControllers } from '@kubewright/controllers'
import {
  ConfigMap,
  IPAddress,
  PersistentVolumeClaim,
  Secret,
  Service,
  ServiceCIDR,
  VolumeAttributesClass,
} from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startPlane } from './plane.ts'

const named = (pattern: RegExp) =>
  builtinControllers.filter(({ name }) => pattern.test(name)).flatMap(({ controllers }) => controllers)
const service = (name: string) =>
  Service({ metadata: { name, namespace: 'test' }, spec: { ports: [{ port: 80 }], selector: { app: 'a' } } })

test('cluster IPs of Services have IPAddresses, which are repaired and deleted with the Service', async () => {
  await using plane = await startPlane({ controllers: [] })
  const { api } = plane
  const { spec } = await api.create(service('web'))
  const name = spec?.clusterIP ?? ''
  await plane.settle()
  const address = await api.get(IPAddress, name)
  expect(address.spec.parentRef).toEqual({ resource: 'services', namespace: 'test', name: 'web' })
  expect(address.metadata.labels).toEqual({
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  })
  const all = (await api.list(IPAddress)).map(({ spec: { parentRef } }) => parentRef.name)
  expect(all.sort()).toEqual(['kubernetes', 'web'])
  await api.delete(IPAddress, name)
  await plane.settle()
  expect((await api.get(IPAddress, name)).metadata.uid).not.toBe(address.metadata.uid)
  const parentRef = { resource: 'services', namespace: 'test', name: 'other' }
  await api.create(IPAddress({ metadata: { name: '10.9.9.9' }, spec: { parentRef } }))
  await api.delete(Service, 'test/web')
  await plane.settle()
  // Addresses of other managers stay.
  expect((await api.list(IPAddress)).map(({ metadata }) => metadata.name)).toEqual(['10.0.0.1', '10.9.9.9'])
})

test('a ServiceCIDR is deleted when no Service uses its addresses', async () => {
  await using plane = await startPlane({ controllers: named(/^service-cidr/) })
  const { api } = plane
  await api.create(ServiceCIDR({ metadata: { name: 'more' }, spec: { cidrs: ['10.1.0.0/24'] } }))
  await plane.settle()
  const more = await api.get(ServiceCIDR, 'more')
  expect(more.metadata.finalizers).toEqual(['networking.k8s.io/service-cidr-finalizer'])
  expect(findCondition(more.status?.conditions, 'Ready')).toMatchObject({ status: 'True' })
  await api.delete(ServiceCIDR, 'more')
  await plane.advance('11s')
  expect(await api.find(ServiceCIDR, 'more')).toBeUndefined()
  await api.delete(ServiceCIDR, 'kubernetes')
  await plane.advance('1m')
  const kept = await api.get(ServiceCIDR, 'kubernetes')
  expect(findCondition(kept.status?.conditions, 'Ready')).toMatchObject({ status: 'False', reason: 'Terminating' })
  expect(plane.errors()).toEqual([])
})

test('a VolumeAttributesClass is protected while a claim uses it', async () => {
  await using plane = await startPlane({ controllers: named(/^volumeattributesclass/) })
  const { api } = plane
  const parameters = { iops: '1' }
  await api.create(VolumeAttributesClass({ metadata: { name: 'fast' }, driverName: 'd.example.com', parameters }))
  await plane.settle()
  expect((await api.get(VolumeAttributesClass, 'fast')).metadata.finalizers).toEqual(['kubernetes.io/vac-protection'])
  const spec = {
    accessModes: ['ReadWriteOnce' as const],
    resources: { requests: { storage: '1Gi' } },
    volumeAttributesClassName: 'fast',
  }
  await api.create(PersistentVolumeClaim({ metadata: { name: 'disk', namespace: 'test' }, spec }))
  await api.delete(VolumeAttributesClass, 'fast')
  await plane.settle()
  expect(await api.find(VolumeAttributesClass, 'fast')).toBeDefined()
  await api.patch(PersistentVolumeClaim, 'test/disk', { metadata: { finalizers: null } })
  await api.delete(PersistentVolumeClaim, 'test/disk')
  await plane.settle()
  expect(await api.find(VolumeAttributesClass, 'fast')).toBeUndefined()
  expect(plane.errors()).toEqual([])
})

test('bootstrap tokens sign cluster-info, and are deleted when they expire', async () => {
  const trust = { rootCa: 'PEM', signToken: () => '', signCertificate: () => '' }
  const controllers = trustControllers
    .filter(({ name }) => name === 'bootstrap-signer-controller' || name === 'token-cleaner-controller')
    .flatMap(({ create }) => create(trust))
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(
    ConfigMap({ metadata: { name: 'cluster-info', namespace: 'kube-public' }, data: { kubeconfig: 'k' } }),
  )
  const stringData = {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-signing': 'true',
    expiration: '2025-01-01T01:00:00Z',
  }
  const metadata = { name: 'bootstrap-token-abcdef', namespace: 'kube-system' }
  await api.create(Secret({ metadata, type: 'bootstrap.kubernetes.io/token', stringData }))
  await plane.settle()
  const signed = await api.get(ConfigMap, 'kube-public/cluster-info')
  expect(signed.data?.['jws-kubeconfig-abcdef']).toMatch(/^[\w-]+\.\.[\w-]{43}$/)
  await plane.advance('61m')
  expect(await api.find(Secret, metadata)).toBeUndefined()
  expect((await api.get(ConfigMap, 'kube-public/cluster-info')).data).toEqual({ kubeconfig: 'k' })
  expect(plane.errors()).toEqual([])
})
