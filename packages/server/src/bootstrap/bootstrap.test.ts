import { memoryLogger } from '@kubewright/base'
import { servingHosts } from '@kubewright/base/pki'
import { MemoryStore, type WriteResult } from '@kubewright/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { namespaces } from '../builtins/core/namespace/namespace.ts'
import { PlainServer } from '../testdata/plain-server.ts'
import { bootstrap } from './bootstrap.ts'
import { publishServerAddresses } from './kubernetes-service.ts'

let server: PlainServer
/** Accepts any name of an APIService. */
const anyApiService = {
  group: 'apiregistration.k8s.io',
  resource: 'apiservices',
  strategy: { validateName: () => [] },
}

class StoreWithoutNamespaces extends MemoryStore {
  override async put(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    if (key.startsWith('/registry/namespaces/')) throw new Error('the disk is full')
    return super.put(key, value, expected)
  }
}

beforeAll(async () => {
  server = await PlainServer.start([namespaces, anyApiService], async (parts) => {
    await bootstrap(parts, { clientCa: 'PEM' })
    return undefined
  })
})
afterAll(() => server[Symbol.asyncDispose]())

const names = async (path: string): Promise<string[]> =>
  (await server.send(`GET ${path}`)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name)

describe('bootstrap()', () => {
  test('creates the system namespaces', async () => {
    expect(await names('/api/v1/namespaces')).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    expect((await server.send('GET /api/v1/namespaces/default')).body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'default' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  })

  test('creates the ServiceCIDR of the cluster IPs and reports it as ready', async () => {
    const { body } = await server.send('GET /apis/networking.k8s.io/v1/servicecidrs/kubernetes')
    expect(body).toMatchObject({
      metadata: {
        managedFields: [
          { manager: 'kubernetes-service-cidr-controller', operation: 'Apply', subresource: 'status' },
          { manager: 'kube-apiserver', operation: 'Update' },
        ],
      },
      spec: { cidrs: ['10.0.0.0/24'] },
      status: { conditions: [{ type: 'Ready', status: 'True', message: 'Kubernetes default Service CIDR is ready' }] },
    })
  })

  test('creates priority classes, priority levels and flow schemas', async () => {
    expect(await names('/apis/scheduling.k8s.io/v1/priorityclasses')).toEqual([
      'system-cluster-critical',
      'system-node-critical',
    ])
    expect(await names('/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations')).toHaveLength(8)
    const { body } = await server.send('GET /apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/system-node-high')
    expect(body.spec).toEqual({
      priorityLevelConfiguration: { name: 'node-high' },
      matchingPrecedence: 400,
      distinguisherMethod: { type: 'ByUser' },
      rules: [
        {
          subjects: [{ kind: 'Group', group: { name: 'system:nodes' } }],
          resourceRules: [
            {
              verbs: ['*'],
              apiGroups: [''],
              resources: ['nodes', 'nodes/status'],
              clusterScope: true,
              namespaces: ['*'],
            },
            { verbs: ['*'], apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] },
          ],
        },
      ],
    })
    expect(body.status.conditions[0]).toMatchObject({ type: 'Dangling', status: 'False' })
  })

  test('creates an APIService for every served group version', async () => {
    const services = await names('/apis/apiregistration.k8s.io/v1/apiservices')
    expect(services).toHaveLength(21)
    expect(services).toEqual(expect.arrayContaining(['v1.', 'v1.apps', 'v2.autoscaling']))
    expect((await server.send('GET /apis/apiregistration.k8s.io/v1/apiservices/v2.autoscaling')).body.spec).toEqual({
      group: 'autoscaling',
      version: 'v2',
      groupPriorityMinimum: 17_500,
      versionPriority: 30,
    })
  })

  test('publishes the client CA for extension servers', async () => {
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
    expect((await server.send(`GET ${path}`)).body.data).toEqual({ 'client-ca-file': 'PEM' })
  })

  test('is idempotent', async () => {
    const { store } = server.server.parts.registry
    const before = await store.revision()
    await bootstrap(server.server.parts, { clientCa: 'PEM' })
    expect(await store.revision()).toBe(before)
  })

  test('publishes new certificates and the front proxy', async () => {
    const frontProxy = { ca: 'PROXY', client: { cert: 'C', key: 'K' } }
    await bootstrap(server.server.parts, { clientCa: 'OTHER', frontProxy })
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
    expect((await server.send(`GET ${path}`)).body.data).toMatchObject({
      'client-ca-file': 'OTHER',
      'requestheader-client-ca-file': 'PROXY',
      'requestheader-allowed-names': '["front-proxy-client"]',
      'requestheader-username-headers': '["X-Remote-User"]',
    })
  })

  test('logs and continues when an object cannot be created', async () => {
    const log = memoryLogger()
    const strict = await PlainServer.start(
      [{ group: '', resource: 'namespaces', strategy: { validateName: () => ['no'] } }],
      async (parts) => {
        await bootstrap({ ...parts, log })
        return undefined
      },
      new StoreWithoutNamespaces(),
    )
    expect(log.records.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('Cannot create namespaces'),
    )
    expect((await strict.send('GET /apis/scheduling.k8s.io/v1/priorityclasses')).body.items).toHaveLength(2)
    await strict[Symbol.asyncDispose]()
  })
})

test('bootstrap() logs an error that many objects share once', async () => {
  const log = memoryLogger()
  const broken = await PlainServer.start(
    [namespaces, anyApiService],
    async (parts) => {
      await bootstrap({ ...parts, log })
      return undefined
    },
    new StoreWithoutNamespaces(),
  )
  const logged = log.records.map(({ error, message }) => `${message}: ${(error as Error).message}`)
  expect(logged).toEqual(['Cannot create namespaces default and 3 other objects: the disk is full'])
  await broken[Symbol.asyncDispose]()
})

describe('publishServerAddresses()', () => {
  test('sets the endpoints of the service and updates them when the address changes', async () => {
    for (const port of [6443, 7443]) {
      await publishServerAddresses(server.server.parts, [{ address: '10.1.1.1', port }])
      const service = await server.send('GET /api/v1/namespaces/default/services/kubernetes')
      // Pods connect to the cluster IP, so the serving certificate must contain it.
      expect(servingHosts).toContain(service.body.spec.clusterIP)
      const endpoints = await server.send('GET /api/v1/namespaces/default/endpoints/kubernetes')
      expect(endpoints.body.subsets).toMatchObject([{ addresses: [{ ip: '10.1.1.1' }], ports: [{ port }] }])
      const slice = await server.send('GET /apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes')
      expect(slice.body).toMatchObject({
        addressType: 'IPv4',
        ports: [{ port }],
        endpoints: [{ addresses: ['10.1.1.1'] }],
      })
    }
  })
})
