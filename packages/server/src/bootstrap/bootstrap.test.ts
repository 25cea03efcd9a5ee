import { memoryLogger } from '@kubewright/base'
import { servingHosts } from '@kubewright/base/pki'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { namespaces } from '../builtins/core/namespace/namespace.ts'
import { PlainServer } from '../testdata/plain-server.ts'
import { bootstrap } from './bootstrap.ts'
import { publishServerAddress } from './kubernetes-service.ts'

let server: PlainServer
beforeAll(async () => {
  server = await PlainServer.start(
    { '/namespaces': namespaces, 'apiregistration.k8s.io/apiservices': { strategy: { validateName: () => [] } } },
    async (parts) => {
      await bootstrap(parts, { clientCa: 'PEM' })
      return undefined
    },
  )
})
afterAll(() => server[Symbol.asyncDispose]())

const names = async (path: string): Promise<string[]> =>
  (await server.send(`GET ${path}`)).body.items.map((item: { metadata: { name: string } }) => item.metadata.name)

describe('bootstrap()', () => {
  test('makes the namespaces that every cluster has, ready for use', async () => {
    expect(await names('/api/v1/namespaces')).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
    expect((await server.send('GET /api/v1/namespaces/default')).body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'default' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
  })

  test('makes priority classes and flow control', async () => {
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

  test('registers every group version that the server serves', async () => {
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

  test('tells others which clients to trust', async () => {
    const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication'
    expect((await server.send(`GET ${path}`)).body.data).toEqual({ 'client-ca-file': 'PEM' })
  })

  test('changes nothing the second time', async () => {
    const { store } = server.server.parts.registry
    const before = await store.revision()
    await bootstrap(server.server.parts, { clientCa: 'PEM' })
    expect(await store.revision()).toBe(before)
  })

  test('publishes new certificates, and how to know the proxy', async () => {
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

  test('goes on when an object cannot be made', async () => {
    const log = memoryLogger()
    const strict = await PlainServer.start(
      { '/namespaces': { strategy: { validateName: () => ['no'] } } },
      async (parts) => {
        await bootstrap({ ...parts, log })
        return undefined
      },
    )
    expect((await strict.send('GET /apis/scheduling.k8s.io/v1/priorityclasses')).body.items).toHaveLength(2)
    await strict[Symbol.asyncDispose]()
  })
})

test('bootstrap() tells a reason once that many objects share', async () => {
  const log = memoryLogger()
  const full = () => {
    throw new Error('the disk is full')
  }
  const broken = await PlainServer.start(
    {
      '/namespaces': { strategy: { validateName: full } },
      'apiregistration.k8s.io/apiservices': { strategy: { validateName: () => [] } },
    },
    async (parts) => {
      await bootstrap({ ...parts, log })
      return undefined
    },
  )
  const told = log.records.map(({ error, message }) => `${message}: ${(error as Error).message}`)
  expect(told).toEqual(['Cannot create namespaces default and 3 other objects: the disk is full'])
  await broken[Symbol.asyncDispose]()
})

describe('publishServerAddress()', () => {
  test('points the service at the server, and follows it when it moves', async () => {
    for (const port of [6443, 7443]) {
      await publishServerAddress(server.server.parts.writer, { address: '10.1.1.1', port })
      const service = await server.send('GET /api/v1/namespaces/default/services/kubernetes')
      // Pods reach the server under it, and want its certificate to say so.
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
