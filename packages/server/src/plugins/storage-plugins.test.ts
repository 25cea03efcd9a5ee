import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AdmissionServer } from '../testdata/admission-server.ts'

let server: AdmissionServer
let claims: string
beforeAll(async () => {
  server = await AdmissionServer.start()
  claims = `${await server.namespace('a')}/persistentvolumeclaims`
})
afterAll(() => server[Symbol.asyncDispose]())

const classes = '/apis/storage.k8s.io/v1/storageclasses'
const sized = (storage: string, more: object = {}): object => ({
  spec: { resources: { requests: { storage } }, ...more },
})
const marked = { 'storageclass.kubernetes.io/is-default-class': 'true' }

describe('storageObjectInUseProtection', () => {
  test.each([
    ['/api/v1/persistentvolumes', 'kubernetes.io/pv-protection'],
    ['/api/v1/namespaces/a/persistentvolumeclaims', 'kubernetes.io/pvc-protection'],
    ['/apis/storage.k8s.io/v1/volumeattributesclasses', 'kubernetes.io/vac-protection'],
  ])('protects %s', async (path, finalizer) => {
    expect((await server.create(path, 'protected')).metadata.finalizers).toEqual([finalizer])
    const body = { metadata: { name: 'again', finalizers: ['x/y', finalizer] } }
    expect((await server.send('POST', path, body)).metadata.finalizers).toEqual(['x/y', finalizer])
  })
})

describe('defaultStorageClass()', () => {
  test('sets the newest default class of claims without a class', async () => {
    expect((await server.create(claims, 'none', sized('1'))).spec).not.toHaveProperty('storageClassName')
    await server.send('POST', classes, { metadata: { name: 'old', annotations: marked }, provisioner: 'p' })
    await server.plain.clock.advance(2000)
    await server.send('POST', classes, { metadata: { name: 'new', annotations: marked }, provisioner: 'p' })
    await server.create(classes, 'plain', { provisioner: 'p' })
    expect((await server.create(claims, 'given', sized('1'))).spec.storageClassName).toBe('new')
    expect((await server.create(claims, 'empty', sized('1', { storageClassName: '' }))).spec.storageClassName).toBe('')
  })
})

describe('persistentVolumeClaimResize()', () => {
  const grow = (name: string): Promise<unknown> =>
    server.send('PATCH', `${claims}/${name}`, sized('2Gi'), 'application/merge-patch+json')

  test('allows a bound claim to grow when its class allows expansion', async () => {
    await server.create(classes, 'grows', { provisioner: 'p', allowVolumeExpansion: true })
    for (const [name, storageClassName] of [
      ['r-1', 'grows'],
      ['r-2', 'plain'],
    ]) {
      await server.create(claims, name!, sized('1Gi', { storageClassName }))
    }
    expect(await grow('r-1')).toMatch(/is forbidden: Only bound persistent volume claims can be expanded$/)
    for (const name of ['r-1', 'r-2']) {
      const bound = { status: { phase: 'Bound' } }
      await server.send('PATCH', `${claims}/${name}/status`, bound, 'application/merge-patch+json')
    }
    expect(await grow('r-1')).toMatchObject({ spec: { resources: { requests: { storage: '2Gi' } } } })
    expect(await grow('r-2')).toMatch(/the storageclass that provisions the pvc must support resize$/)
  })
})

describe('defaultIngressClass()', () => {
  test('sets the default class of ingresses without a class', async () => {
    const ingresses = '/apis/networking.k8s.io/v1/namespaces/a/ingresses'
    const annotations = { 'ingressclass.kubernetes.io/is-default-class': 'true' }
    const body = { metadata: { name: 'web', annotations }, spec: { controller: 'x/y' } }
    await server.send('POST', '/apis/networking.k8s.io/v1/ingressclasses', body)
    expect((await server.create(ingresses, 'i-1')).spec.ingressClassName).toBe('web')
    const old = { metadata: { name: 'i-2', annotations: { 'kubernetes.io/ingress.class': 'x' } } }
    expect((await server.send('POST', ingresses, old)).spec).not.toHaveProperty('ingressClassName')
  })
})

describe('taintNodesByCondition', () => {
  test('taints new nodes once', async () => {
    const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
    expect((await server.create('/api/v1/nodes', 'n-1')).spec.taints).toEqual([taint])
    const tainted = { spec: { taints: [{ ...taint, value: 'v' }] } }
    expect((await server.create('/api/v1/nodes', 'n-2', tainted)).spec.taints).toEqual([{ ...taint, value: 'v' }])
  })
})
