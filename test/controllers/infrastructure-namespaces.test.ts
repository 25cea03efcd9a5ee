import { type ApiHandler, crdOf, defineResource } from '@kubewright/api'
import { builtinControllers } from '@kubewright/controllers'
import { startControlPlane } from '@kubewright/controlplane'
import { ConfigMap, Deployment, Namespace, Pod, ResourceQuota, Secret } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { startPlane } from './plane.ts'
import { waitFor } from './wait-for.ts'

const controllers = builtinControllers.flatMap((one) => one.controllers)
const namespace = 'going'
const meta = (name: string, more: object = {}) => ({ name, namespace, ...more })
const template = {
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'web', image: 'nginx' }] },
}
const deployment = Deployment({
  metadata: meta('web'),
  spec: { replicas: 2, selector: { matchLabels: { app: 'web' } }, template },
})

test('a namespace is deleted with its contents, including running pods and custom resources', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  const Widget = defineResource({ group: 'example.com', version: 'v1', kind: 'Widget', spec: s.object({}) })
  await api.create(crdOf(Widget))
  await api.create(Namespace({ metadata: { name: namespace } }))
  await plane.advance('1s')
  await api.create(deployment)
  await api.create(ConfigMap({ metadata: meta('c') }))
  await api.create(Widget({ metadata: meta('w'), spec: {} }))
  await plane.until(Deployment, `${namespace}/web`, ({ status }) => status?.availableReplicas === 2)
  await api.delete(Namespace, namespace)
  await plane.advance('2m')
  expect(await api.find(Namespace, namespace)).toBeUndefined()
  for (const kind of [Pod, Deployment, ConfigMap, Secret, Widget]) {
    expect(await api.list(kind as typeof Pod, { namespace })).toEqual([])
  }
})

test('pods are deleted first, and remaining contents are reported until they are gone', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(Namespace({ metadata: { name: namespace } }))
  await plane.advance('1s')
  await api.create(Pod({ metadata: meta('p', { finalizers: ['example.com/hold'] }), spec: template.spec }))
  await api.create(ConfigMap({ metadata: meta('c', { finalizers: ['example.com/hold'] }) }))
  await api.delete(Namespace, namespace)
  const remaining = 'Some resources are remaining: '
  const waits = (text: string) => (found: Namespace) =>
    found.status?.conditions?.some(({ message }) => message === text) === true
  await plane.until(Namespace, namespace, waits(`${remaining}pods. has 1 resource instances`))
  expect((await api.get(ConfigMap, `${namespace}/c`)).metadata.deletionTimestamp).toBeUndefined()
  await api.patch(Pod, `${namespace}/p`, { metadata: { finalizers: null } } as never)
  await plane.until(Namespace, namespace, waits(`${remaining}configmaps. has 1 resource instances`))
  await api.patch(ConfigMap, `${namespace}/c`, { metadata: { finalizers: null } } as never)
  await plane.advance('1m')
  expect(await api.find(Namespace, namespace)).toBeUndefined()
})

test('a namespace that waits is visited less and less often, also when the wall time goes back', async () => {
  let visits = 0
  const path = `/api/v1/namespaces/${namespace}`
  const between =
    (handler: ApiHandler): ApiHandler =>
    (request) => {
      if (request.method === 'GET' && request.path === path) visits++
      return handler(request)
    }
  await using plane = await startPlane({ controllers, between })
  const { api, clock } = plane
  await api.create(Namespace({ metadata: { name: namespace } }))
  await plane.advance('1s')
  await api.create(ConfigMap({ metadata: meta('c', { finalizers: ['example.com/hold'] }) }))
  await api.delete(Namespace, namespace)
  clock.setNow(clock.now() - 600_000)
  await plane.advance('1m')
  visits = 0
  await plane.advance('1m')
  expect(visits).toBeGreaterThan(5)
  expect(visits).toBeLessThan(12)
})

test.each([
  ['deletions of collections', 405, 'DELETE', ['DELETE', 'DELETE /a', 'DELETE /b']],
  ['deletions of collections, as if there were none', 404, 'DELETE', ['DELETE', 'DELETE /a', 'DELETE /b']],
  ['lists', 405, 'GET', ['DELETE']],
])(
  'a namespace is deleted although a server rejects %s that it advertises (%d)',
  async (_, status, refused, expected) => {
    const collection = `/api/v1/namespaces/${namespace}/configmaps`
    const deletions: string[] = []
    const between =
      (handler: ApiHandler): ApiHandler =>
      async (request) => {
        const { method, path } = request
        if (!path.startsWith(collection)) return handler(request)
        const name = path.slice(collection.length)
        if (method === 'DELETE') deletions.push(`DELETE ${name}`.trim())
        if (method !== refused || name !== '') return handler(request)
        const body = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, reason: reasons.get(status) }
        return {
          status,
          headers: { 'content-type': 'application/json' },
          body: new TextEncoder().encode(JSON.stringify(body)),
        }
      }
    // Without other controllers, which would create objects in the namespace or read it through the same handler.
    const some = builtinControllers.filter(({ name }) => name === 'namespace-controller')
    await using plane = await startPlane({ controllers: some.flatMap((one) => one.controllers), between })
    const { api } = plane
    await api.create(Namespace({ metadata: { name: namespace } }))
    for (const name of ['a', 'b']) await api.create(ConfigMap({ metadata: meta(name) }))
    await api.delete(Namespace, namespace)
    await plane.advance('1m')
    expect(await api.find(Namespace, namespace)).toBeUndefined()
    expect(await api.list(ConfigMap, { namespace })).toEqual([])
    expect(deletions).toEqual(expected)
  },
)

const reasons: ReadonlyMap<number, string> = new Map([
  [404, 'NotFound'],
  [405, 'MethodNotAllowed'],
])

test('a quota is recalculated when its limits change and when objects are deleted', async () => {
  await using plane = await startControlPlane({ nodes: 0 })
  const api = plane.client()
  const key = { name: 'q', namespace: 'default' }
  const used = (count: string) => (found: ResourceQuota | undefined) => found?.status?.used?.['count/secrets'] === count
  await api.create(Secret({ metadata: { name: 'before', namespace: 'default' } }))
  await api.create(ResourceQuota({ metadata: key, spec: { hard: { 'count/secrets': '2', pods: '1' } } }))
  const counted = await waitFor(api, ResourceQuota, key, used('1'))
  expect(counted?.status).toEqual({
    hard: { 'count/secrets': '2', pods: '1' },
    used: { 'count/secrets': '1', pods: '0' },
  })
  await api.create(Secret({ metadata: { name: 'second', namespace: 'default' } }))
  await waitFor(api, ResourceQuota, key, used('2'))
  await expect(api.create(Secret({ metadata: { name: 'third', namespace: 'default' } }))).rejects.toThrow(
    'exceeded quota: q, requested: count/secrets=1, used: count/secrets=2, limited: count/secrets=2',
  )
  await api.delete(Secret, 'default/before')
  await waitFor(api, ResourceQuota, key, used('1'))
  await api.patch(ResourceQuota, key, { spec: { hard: { pods: null } } } as never)
  const fewer = await waitFor(api, ResourceQuota, key, (found) => found?.status?.hard?.['pods'] === undefined)
  expect(fewer?.status?.used).toEqual({ 'count/secrets': '1' })
})

test('a namespace with an object that cannot be read reports it with back-off, and is deleted when the object is gone', async () => {
  const store = new MemoryStore()
  const key = `/registry/configmaps/${namespace}/poison`
  const { revision } = await store.put(key, new Uint8Array([0x7b]), 0)
  let finalizes = 0
  const between =
    (handler: ApiHandler): ApiHandler =>
    (request) => {
      if (request.path.endsWith('/finalize')) finalizes++
      return handler(request)
    }
  await using plane = await startPlane({ controllers, store, between })
  const { api } = plane
  await api.create(Namespace({ metadata: { name: namespace } }))
  await api.create(ConfigMap({ metadata: meta('good') }))
  await api.delete(Namespace, namespace)
  await plane.advance('1m')
  expect(await api.list(ConfigMap, { namespace })).toEqual([])
  const stuck = await api.get(Namespace, namespace)
  expect(stuck.status?.conditions).toContainEqual(
    expect.objectContaining({
      type: 'NamespaceDeletionContentFailure',
      status: 'True',
      message: expect.stringContaining(key),
    }),
  )
  const before = finalizes
  await plane.advance('10m')
  // One attempt every eight seconds, and no change of the namespace that would cause another one.
  expect(finalizes - before).toBeLessThan(100)
  expect((await api.get(Namespace, namespace)).metadata.resourceVersion).toBe(stuck.metadata.resourceVersion)
  await store.delete(key, revision)
  await plane.advance('1m')
  expect(await api.find(Namespace, namespace)).toBeUndefined()
})
