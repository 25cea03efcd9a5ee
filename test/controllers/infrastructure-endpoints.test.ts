import { endpointSliceController, endpointSliceMirroring, endpointsController } from '@kubewright/controllers'
import { EndpointSlice, Endpoints, Node, Pod, Service } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startPlane } from './plane.ts'

const controllers = [endpointsController, endpointSliceController, endpointSliceMirroring]
const meta = (name: string, labels: Record<string, string> = {}) => ({ name, namespace: 'test', labels })

async function startWithNode(): Promise<Awaited<ReturnType<typeof startPlane>>> {
  const plane = await startPlane({ controllers })
  await plane.api.create(Node({ metadata: { name: 'n', labels: { 'topology.kubernetes.io/zone': 'z' } } }))
  return plane
}

async function runPod(plane: Awaited<ReturnType<typeof startPlane>>, name: string, ip: string, ready = true) {
  await plane.api.create(
    Pod({
      metadata: meta(name, { app: 'web' }),
      spec: {
        nodeName: 'n',
        containers: [{ name: 'c', image: 'i', ports: [{ name: 'http', containerPort: 8080 }] }],
      },
    }),
  )
  const status = {
    phase: 'Running' as const,
    podIP: ip,
    podIPs: [{ ip }],
    conditions: [
      {
        type: 'Ready',
        status: ready ? ('True' as const) : ('False' as const),
        lastTransitionTime: '2025-01-01T00:00:05Z',
      },
    ],
  }
  await plane.api.subresource(Pod, 'status').patch(`test/${name}`, { status })
}

const web = Service({
  metadata: meta('web', { team: 'a' }),
  spec: { selector: { app: 'web' }, ports: [{ name: 'main', port: 80, targetPort: 'http' }] },
})

test('endpoints and slices follow the pods that a service selects', async () => {
  await using plane = await startWithNode()
  const { api } = plane
  await api.create(web)
  await plane.settle()
  const [empty] = await api.list(EndpointSlice, { namespace: 'test' })
  expect([empty?.endpoints ?? [], empty?.ports ?? []]).toEqual([[], []])
  await runPod(plane, 'a', '10.0.0.1')
  await runPod(plane, 'b', '10.0.0.2', false)
  await plane.settle()
  const { uid } = (await api.get(Pod, 'test/a')).metadata
  const targetRef = { kind: 'Pod', namespace: 'test', name: 'a', uid }
  const endpoints = await api.get(Endpoints, 'test/web')
  expect(endpoints).toMatchObject({
    metadata: { labels: { team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' } },
    subsets: [
      {
        addresses: [{ ip: '10.0.0.1', nodeName: 'n', targetRef }],
        notReadyAddresses: [{ ip: '10.0.0.2' }],
        ports: [{ name: 'main', port: 8080, protocol: 'TCP' }],
      },
    ],
  })
  expect(endpoints.metadata.annotations?.['endpoints.kubernetes.io/last-change-trigger-time']).toBe(
    '2025-01-01T00:00:05Z',
  )
  const slices = await api.list(EndpointSlice, { namespace: 'test' })
  const service = await api.get(Service, 'test/web')
  expect(slices).toHaveLength(1)
  expect(slices[0]).toMatchObject({
    metadata: {
      name: empty?.metadata.name,
      generateName: 'web-',
      labels: {
        team: 'a',
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Service', name: 'web', uid: service.metadata.uid, controller: true },
      ],
    },
    addressType: 'IPv4',
    endpoints: [
      {
        addresses: ['10.0.0.1'],
        conditions: { ready: true, serving: true, terminating: false },
        nodeName: 'n',
        zone: 'z',
        targetRef,
      },
      { addresses: ['10.0.0.2'], conditions: { ready: false, serving: false, terminating: false } },
    ],
    ports: [{ name: 'main', port: 8080, protocol: 'TCP' }],
  })
  const versions = [endpoints, slices[0]].map((object) => object?.metadata.resourceVersion)
  await plane.advance('1m')
  const after = [await api.get(Endpoints, 'test/web'), (await api.list(EndpointSlice, { namespace: 'test' }))[0]]
  expect(after.map((object) => object?.metadata.resourceVersion)).toEqual(versions)
  await api.delete(Service, 'test/web')
  await plane.settle()
  expect(await api.find(Endpoints, 'test/web')).toBeUndefined()
  expect(plane.errors()).toEqual([])
})

test('a terminating pod is removed from the ready addresses, and a service may publish addresses that are not ready', async () => {
  await using plane = await startWithNode()
  const { api } = plane
  await api.create(web)
  await api.create(
    Service({
      metadata: meta('all'),
      spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: { app: 'web' } },
    }),
  )
  await runPod(plane, 'a', '10.0.0.1')
  await api.delete(Pod, 'test/a')
  await plane.settle()
  expect((await api.get(Endpoints, 'test/web')).subsets ?? []).toEqual([])
  const all = await api.get(Endpoints, 'test/all')
  expect(all.subsets).toMatchObject([{ addresses: [{ ip: '10.0.0.1' }] }])
  expect(all.metadata.labels).toHaveProperty(['service.kubernetes.io/headless'])
  const slices = await api.list(EndpointSlice, { namespace: 'test' })
  const conditions = new Map(slices.map(({ metadata, endpoints }) => [metadata.generateName, endpoints[0]?.conditions]))
  expect(conditions.get('web-')).toEqual({ ready: false, serving: true, terminating: true })
  expect(conditions.get('all-')).toEqual({ ready: true, serving: true, terminating: true })
})

test('endpoints of a service without a selector are not changed and are mirrored as slices', async () => {
  await using plane = await startWithNode()
  const { api } = plane
  const slices = async () => {
    await plane.settle()
    const found = await api.list(EndpointSlice, { namespace: 'test' })
    return found.map(({ addressType, endpoints, ports }) => [
      addressType,
      (endpoints ?? []).map(({ addresses, conditions }) => `${addresses.join()} ${conditions?.ready}`),
      (ports ?? []).map(({ name, port }) => `${name} ${port}`),
    ])
  }
  await api.create(Service({ metadata: meta('own'), spec: { ports: [{ port: 80 }] } }))
  const ports = [{ name: 'web', port: 80 }]
  const addresses = [{ ip: '10.9.9.9' }, { ip: 'fd00::1' }]
  const own = await api.create(
    Endpoints({
      metadata: { ...meta('own', { team: 'a' }), annotations: { note: 'x' } },
      subsets: [{ addresses, notReadyAddresses: [{ ip: '10.9.9.10' }], ports }],
    }),
  )
  expect((await slices()).sort()).toEqual([
    ['IPv4', ['10.9.9.9 true', '10.9.9.10 false'], ['web 80']],
    ['IPv6', ['fd00::1 true'], ['web 80']],
  ])
  expect(await api.get(Endpoints, 'test/own')).toEqual(own)
  const [slice] = await api.list(EndpointSlice, { namespace: 'test' })
  expect(slice?.metadata).toMatchObject({
    annotations: { note: 'x' },
    labels: {
      team: 'a',
      'kubernetes.io/service-name': 'own',
      'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
    },
    ownerReferences: [{ kind: 'Endpoints', name: 'own', controller: true }],
  })
  await api.patch(Endpoints, 'test/own', { subsets: [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ port: 81 }] }] })
  expect(await slices()).toEqual([['IPv4', ['10.9.9.9 true'], [' 81']]])
  await api.patch(Endpoints, 'test/own', {
    metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
  })
  expect(await slices()).toEqual([])
  expect(plane.errors()).toEqual([])
})

test('endpointsController keeps Endpoints without a service, and deletes those of a deleted service', async () => {
  await using plane = await startPlane({ controllers: [endpointsController] })
  const { api } = plane
  await api.create(Endpoints({ metadata: meta('early'), subsets: [{ addresses: [{ ip: '10.0.0.9' }] }] }))
  await plane.settle()
  await api.patch(Endpoints, 'test/early', { metadata: { labels: { a: 'b' } } })
  await plane.settle()
  expect((await api.get(Endpoints, 'test/early')).metadata.labels).toEqual({ a: 'b' })
  await api.create(Service({ metadata: meta('early'), spec: { ports: [{ port: 80 }] } }))
  await plane.settle()
  await api.delete(Service, 'test/early')
  await plane.settle()
  expect(await api.find(Endpoints, 'test/early')).toBeUndefined()
})

test('endpointsController deletes Endpoints of another run of it whose service is gone', async () => {
  await using plane = await startPlane({ controllers: [endpointsController] })
  const { api } = plane
  const labels = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' }
  await api.create(Endpoints({ metadata: { ...meta('late'), labels } }))
  await plane.settle()
  expect(await api.find(Endpoints, 'test/late')).toBeUndefined()
})
