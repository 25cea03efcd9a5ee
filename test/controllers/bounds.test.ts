import type { ApiHandler } from '@kubewright/api'
import { builtinControllers, garbageCollector } from '@kubewright/controllers'
import { ConfigMap, Event, Job, Namespace, Pod, ReplicationController, Service } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startPlane } from './plane.ts'

const all = (pattern: RegExp) =>
  builtinControllers.filter(({ name }) => pattern.test(name)).flatMap((one) => one.controllers)
const meta = (name: string) => ({ name, namespace: 'test' })

/** Counts the requests of the controllers. */
function counter() {
  const count = { requests: 0 }
  const between =
    (handler: ApiHandler): ApiHandler =>
    (request) => {
      count.requests++
      return handler(request)
    }
  return { count, between }
}

const link = (name: string, owner?: ConfigMap) =>
  ConfigMap({
    metadata: {
      ...meta(name),
      ...(owner && {
        ownerReferences: [
          {
            apiVersion: 'v1',
            kind: 'ConfigMap',
            name: owner.metadata.name,
            uid: owner.metadata.uid,
            blockOwnerDeletion: true,
          },
        ],
      }),
    },
  })

test.each(['Background', 'Foreground'] as const)(
  'a chain of 400 owners is collected with few requests each: %s',
  async (policy) => {
    const { count, between } = counter()
    await using plane = await startPlane({ controllers: [garbageCollector()], between })
    let last: ConfigMap | undefined
    for (let i = 0; i < 400; i++) last = await plane.api.create(link(`c-${i}`, last))
    await plane.settle()
    count.requests = 0
    await plane.api.delete(ConfigMap, 'test/c-0', { propagationPolicy: policy })
    await plane.settle()
    expect(await plane.api.list(ConfigMap, { namespace: 'test' })).toEqual([])
    // In the foreground, each object is read and patched twice: on the way down and on the way back.
    expect(count.requests / 400).toBeLessThan(policy === 'Background' ? 4 : 8)
  },
)

test.each(['Background', 'Foreground', 'Orphan'] as const)(
  '1000 dependents of one owner need few requests each: %s',
  async (policy) => {
    const { count, between } = counter()
    await using plane = await startPlane({ controllers: [garbageCollector()], between })
    const owner = await plane.api.create(link('owner'))
    for (let i = 0; i < 1000; i++) await plane.api.create(link(`d-${i}`, owner))
    await plane.settle()
    count.requests = 0
    await plane.api.delete(ConfigMap, 'test/owner', { propagationPolicy: policy })
    await plane.settle()
    expect(await plane.api.list(ConfigMap, { namespace: 'test' })).toHaveLength(policy === 'Orphan' ? 1000 : 0)
    expect(count.requests / 1000).toBeLessThan(4)
  },
)

test('the number of requests that empty a namespace does not depend on the number of its objects', async () => {
  const requests = async (objects: number): Promise<number> => {
    const { count, between } = counter()
    await using plane = await startPlane({ controllers: all(/^namespace/), between })
    await plane.api.create(Namespace({ metadata: { name: 'going' } }))
    for (let i = 0; i < objects; i++) {
      await plane.api.create(ConfigMap({ metadata: { name: `c-${i}`, namespace: 'going' } }))
    }
    await plane.settle()
    count.requests = 0
    await plane.api.delete(Namespace, 'going')
    await plane.settle()
    expect((await plane.api.list(ConfigMap, { namespace: 'going' })).length, 'kept for five seconds').toBe(objects)
    await plane.advance('5s')
    expect(await plane.api.find(Namespace, 'going')).toBeUndefined()
    return count.requests
  }
  expect(await requests(1500)).toBe(await requests(1))
})

test('pods of a job that fail together count once against its limit', async () => {
  await using plane = await startPlane({ controllers: all(/^job/) })
  const { api } = plane
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'c' }] } }
  await api.create(
    Job({ metadata: meta('twins'), spec: { parallelism: 2, completions: 2, backoffLimit: 1, template } }),
  )
  await plane.settle()
  const pods = await api.list(Pod, { namespace: 'test' })
  expect(pods).toHaveLength(2)
  for (const pod of pods) {
    await plane.advance('400ms')
    await api.subresource(Pod, 'status').update({ ...pod, status: { phase: 'Failed' } })
  }
  await plane.settle()
  expect((await api.get(Job, 'test/twins')).status?.failed, 'within the second').toBeUndefined()
  const failed = await plane.until(Job, 'test/twins', ({ status }) => status?.failed !== undefined)
  expect(failed.status?.failed).toBe(2)
  expect(await api.list(Pod, { namespace: 'test' }), 'no pod was created in between').toHaveLength(2)
})

test('events name the components of kube-controller-manager, and every pod without a node', async () => {
  await using plane = await startPlane({ controllers: all(/^(replicationcontroller|endpointslice-controller)/) })
  const { api } = plane
  const template = { metadata: { labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'c' }] } }
  await api.create(
    ReplicationController({ metadata: meta('rc'), spec: { replicas: 1, selector: { app: 'a' }, template } }),
  )
  await api.create(Service({ metadata: meta('svc'), spec: { selector: { app: 'a' }, ports: [{ port: 80 }] } }))
  await plane.settle()
  const [pod] = await api.list(Pod, { namespace: 'test' })
  const status = { phase: 'Running' as const, podIP: '10.1.1.1', podIPs: [{ ip: '10.1.1.1' }] }
  await api.subresource(Pod, 'status').update({ ...pod!, status })
  await plane.settle()
  const events = await api.list(Event, { namespace: 'test' })
  const lines = new Set(events.map(({ source, message = '' }) => `${source?.component}: ${message}`))
  expect([...lines].sort()).toEqual([
    `endpoint-slice-controller: Error updating Endpoint Slices for Service test/svc: skipping Pod ${pod?.metadata.name} for Service test/svc: Node  Not Found`,
    `replication-controller: Created pod: ${pod?.metadata.name}`,
  ])
})
