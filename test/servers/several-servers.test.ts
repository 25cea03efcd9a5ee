// Several servers on one etcd: elections, allocations, visibility of writes on other servers, and restarts.
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type EtcdProcess, noEtcd, startEtcd } from '../../packages/storage/src/testdata/etcd-process.ts'
import { configMap, deployment, type Reply, type Requests } from '../up/requests.ts'
import { ServerGroup, sendAnywhere } from './server-group.ts'

const core = '/api/v1/namespaces/default'
const components = ['kube-controller-manager', 'kube-scheduler', 'kubewright-nodes']
const patience = { timeout: 60_000, interval: 100 }

beforeEach(({ skip }) => {
  if (noEtcd !== undefined) skip(noEtcd)
})

const statusesOf = (replies: readonly Reply[]): number[] => replies.map(({ status }) => status)

/** The names of the objects that were added and deleted from a list on. */
function countChanges(client: Requests, path: string) {
  const added = new Set<string>()
  const deleted = new Set<string>()
  const ended = client
    .until(`${path}?watch=1`, ({ metadata }, type) => {
      if (type === 'ADDED') added.add(metadata.name)
      if (type === 'DELETED') deleted.add(metadata.name)
      return false
    })
    .catch(() => undefined)
  return { added, deleted, ended }
}

describe.skipIf(noEtcd !== undefined)(noEtcd === undefined ? 'three servers on one etcd' : `skipped: ${noEtcd}`, () => {
  let etcd: EtcdProcess
  let group: ServerGroup
  let clients: Requests[]
  beforeAll(async () => {
    etcd = await startEtcd()
    group = await ServerGroup.start(3, [etcd.url], ['--nodes', '2', '--advertise-address', '192.0.2.1'])
    clients = [0, 1, 2].map((i) => group.client(i))
  }, 120_000)
  afterAll(async () => {
    await group?.[Symbol.asyncDispose]()
    await etcd?.[Symbol.asyncDispose]()
  })

  test('create exactly 20 pods for 20 replicas and delete none', { timeout: 120_000 }, async () => {
    const seen = countChanges(clients[1]!, `${core}/pods`)
    const path = `/apis/apps/v1/namespaces/default/deployments`
    expect((await clients[0]!.send('POST', path, deployment('web', 20))).status).toBe(201)
    const available = async (): Promise<number> =>
      (await clients[2]!.send('GET', `${path}/web`)).body.status?.availableReplicas
    await expect.poll(available, patience).toBe(20)
    expect([seen.added.size, seen.deleted.size]).toEqual([20, 0])
    for (const lease of components) expect(await group.holderOf(lease, 0)).not.toBe('')
  })

  test('announce themselves and list all addresses in the endpoints', async () => {
    const leases = (await clients[0]!.send('GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases')).body
    const names = (leases.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)
    expect(names.filter((name) => name.startsWith('apiserver-'))).toHaveLength(3)
    const ports = async (): Promise<string[]> => {
      const { subsets = [] } = (await clients[0]!.send('GET', `${core}/endpoints/kubernetes`)).body
      return (subsets as { ports: { port: number }[] }[]).map((subset) => String(subset.ports[0]!.port)).sort()
    }
    await expect.poll(ports, patience).toEqual([0, 1, 2].map((i) => new URL(group.server(i)!.server).port).sort())
  })

  test('never allocate a cluster IP or node port twice', { timeout: 120_000 }, async () => {
    const service = (i: number): object => ({
      metadata: { name: `s${i}` },
      spec: { type: 'NodePort', ports: [{ port: 80 }] },
    })
    const create = (i: number): Promise<Reply> => clients[i % 3]!.send('POST', `${core}/services`, service(i))
    const replies = await Promise.all(Array.from({ length: 150 }, (_, i) => create(i)))
    expect(statusesOf(replies)).toEqual(replies.map(() => 201))
    expect(new Set(replies.map(({ body }) => body.spec.clusterIP)).size).toBe(150)
    expect(new Set(replies.map(({ body }) => body.spec.ports[0].nodePort)).size).toBe(150)
    // The same address requested from all servers: one gets it.
    await Promise.all(replies.map((_, i) => clients[(i + 1) % 3]!.send('DELETE', `${core}/services/s${i}`)))
    const { clusterIP } = replies[0]!.body.spec
    const wanted = clients.map((client, i) =>
      client.send('POST', `${core}/services`, {
        metadata: { name: `w${i}` },
        spec: { clusterIP, ports: [{ port: 80 }] },
      }),
    )
    expect(statusesOf(await Promise.all(wanted)).sort()).toEqual([201, 422, 422])
  })

  test('charge a quota exactly', { timeout: 120_000 }, async () => {
    await clients[0]!.send('POST', '/api/v1/namespaces', { metadata: { name: 'quota' } })
    const path = '/api/v1/namespaces/quota'
    const hard = { 'count/configmaps': '20' }
    await clients[0]!.send('POST', `${path}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } })
    // The controller counts, among others, the ConfigMap with the CA.
    const used = async (): Promise<unknown> =>
      (await clients[1]!.send('GET', `${path}/resourcequotas/q`)).body.status?.used?.['count/configmaps']
    await expect.poll(used, patience).toBe('1')
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) => clients[i % 3]!.send('POST', `${path}/configmaps`, configMap(`m${i}`, 'x'))),
    )
    const { body } = await clients[2]!.send('GET', `${path}/configmaps`)
    expect(body.items.length).toBeLessThanOrEqual(20)
    expect(statusesOf(replies).filter((status) => status === 201).length).toBe(body.items.length - 1)
    expect(new Set(statusesOf(replies))).toEqual(new Set([201, 403]))
    await expect.poll(used, patience).toBe(String(body.items.length))
  })

  test('serve a definition that was created on another server', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.shop.example.com' },
      spec: {
        group: 'shop.example.com',
        scope: 'Namespaced',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    }
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    expect((await clients[0]!.send('POST', definitions, definition)).status).toBe(201)
    const widgets = '/apis/shop.example.com/v1/namespaces/default/widgets'
    const listed = async (client: Requests): Promise<number> => (await client.send('GET', widgets)).status
    for (const client of clients) await expect.poll(() => listed(client), patience).toBe(200)
    const widget = { apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name: 'w' }, size: 1 }
    expect((await clients[1]!.send('POST', widgets, widget)).status).toBe(201)
    expect((await clients[2]!.send('GET', `${widgets}/w`)).body.size).toBe(1)
    await clients[2]!.send('DELETE', `${definitions}/widgets.shop.example.com`)
    for (const client of clients) await expect.poll(() => listed(client), patience).toBe(404)
  })

  test('enforce roles and policies that were written on another server', async () => {
    const jane = { 'impersonate-user': 'jane' }
    const may = async (client: Requests): Promise<number> =>
      (await client.send('GET', `${core}/configmaps`, undefined, jane)).status
    for (const client of clients) expect(await may(client)).toBe(403)
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
    await clients[0]!.send('POST', `${rbac}/roles`, { metadata: { name: 'reader' }, rules })
    await clients[0]!.send('POST', `${rbac}/rolebindings`, {
      metadata: { name: 'jane' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    })
    for (const client of clients) await expect.poll(() => may(client), patience).toBe(200)
    await clients[1]!.send('DELETE', `${rbac}/rolebindings/jane`)
    for (const client of clients) await expect.poll(() => may(client), patience).toBe(403)
    const policies = '/apis/admissionregistration.k8s.io/v1'
    await clients[1]!.send('POST', `${policies}/validatingadmissionpolicies`, {
      metadata: { name: 'no-secrets' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] }],
        },
        validations: [{ expression: 'false', message: 'no' }],
      },
    })
    await clients[1]!.send('POST', `${policies}/validatingadmissionpolicybindings`, {
      metadata: { name: 'no-secrets' },
      spec: { policyName: 'no-secrets', validationActions: ['Deny'] },
    })
    const secret = { metadata: { generateName: 's-' } }
    const denied = async (client: Requests): Promise<number> =>
      (await client.send('POST', `${core}/secrets`, secret)).status
    for (const client of clients) await expect.poll(() => denied(client), patience).toBe(422)
    await clients[2]!.send('DELETE', `${policies}/validatingadmissionpolicybindings/no-secrets`)
    for (const client of clients) await expect.poll(() => denied(client), patience).toBe(201)
  })

  test('list at least the version that a client has seen on another server', async () => {
    for (let i = 0; i < 30; i++) {
      const { body } = await clients[i % 3]!.send('POST', `${core}/configmaps`, configMap(`v${i}`, 'x'))
      const { resourceVersion } = body.metadata
      const listed = await clients[(i + 1) % 3]!.send('GET', `${core}/configmaps?resourceVersion=${resourceVersion}`)
      const names = (listed.body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)
      expect(names).toContain(`v${i}`)
      // A list without a version is never older than a write on another server.
      const newest = await clients[(i + 2) % 3]!.send('GET', `${core}/configmaps?limit=500`)
      expect((newest.body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name)).toContain(
        `v${i}`,
      )
    }
  })
})

describe.skipIf(noEtcd !== undefined)('restarts of servers on one etcd', () => {
  test('hand the components over on a clean stop', { timeout: 180_000 }, async () => {
    await using etcd = await startEtcd()
    await using group = await ServerGroup.start(1, [etcd.url], ['--nodes', '1'])
    const held = async (via: number): Promise<string[]> =>
      Promise.all(components.map((lease) => group.holderOf(lease, via)))
    await expect.poll(async () => (await held(0)).every((holder) => holder !== ''), patience).toBe(true)
    const before = await held(0)
    await group.start(1)
    await pause(1000)
    expect(await group.stop(0, 'SIGTERM')).toBe(0)
    const moved = async (): Promise<boolean> =>
      (await held(1)).every((holder, i) => holder !== '' && holder !== before[i])
    await expect.poll(moved, patience).toBe(true)
    const path = '/apis/apps/v1/namespaces/default/deployments'
    await group.client(1).send('POST', path, deployment('web', 2))
    const available = async (): Promise<number> =>
      (await group.client(1).send('GET', `${path}/web`)).body.status?.availableReplicas
    await expect.poll(available, patience).toBe(2)
  })

  test('fail no request of a client that retries on another server', { timeout: 300_000 }, async () => {
    await using etcd = await startEtcd()
    await using group = await ServerGroup.start(2, [etcd.url], ['--controllers', 'none'])
    const clients = [group.client(0), group.client(1)]
    let isOver = false
    let sent = 0
    const worker = async (id: number): Promise<void> => {
      for (let i = 0; !isOver; i++) {
        const body = configMap(`w${id}-${i}`, 'x')
        const reply = await sendAnywhere(clients, id + i, { method: 'POST', path: `${core}/configmaps`, body })
        expect([201, 409]).toContain(reply.status)
        // Only a second attempt may find the object of the first.
        if (reply.status === 409) expect(reply.attempts).toBeGreaterThan(1)
        sent++
      }
    }
    const workers = Promise.all(Array.from({ length: 4 }, (_, id) => worker(id)))
    try {
      for (const index of [0, 1]) {
        await pause(500)
        expect(await group.stop(index, 'SIGTERM')).toBe(0)
        await group.start(index)
      }
      await pause(500)
    } finally {
      isOver = true
      await workers
    }
    const { body } = await clients[0]!.send('GET', `${core}/configmaps`)
    expect(body.items.length).toBe(sent)
  })
})
