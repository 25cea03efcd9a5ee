import { VirtualClock } from '@kubewright/base'
import { MemoryStore, StorageError, type WatchBatch, type WatchRequest, type WriteResult } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import { type AssembledServer, assembleServer } from './assemble-server.ts'

interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

async function send(server: AssembledServer, method: string, path: string, body?: unknown): Promise<Answer> {
  const [pathname = '', query = ''] = path.split('?')
  const { status, body: bytes } = await server.handler({
    method,
    path: pathname,
    query: new URLSearchParams(query),
    headers: { authorization: 'Bearer root', 'content-type': 'application/json' },
    body: async () => Buffer.from(JSON.stringify(body)),
    signal: new AbortController().signal,
    peer: { address: '127.0.0.1' },
  })
  if (typeof bytes === 'function') throw new Error('The answer is a stream')
  return { status, body: JSON.parse(Buffer.from(bytes ?? []).toString() || 'null') }
}

const access = { tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }] }

describe('assembleServer()', () => {
  test('creates the objects of every cluster, once', async () => {
    await using store = new MemoryStore()
    for (let start = 0; start < 2; start++) {
      await using server = await assembleServer({ store, access })
      const { body } = await send(server, 'GET', '/api/v1/namespaces')
      const names = body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
      expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
      expect((await send(server, 'GET', '/api/v1/namespaces/default/services/kubernetes')).status).toBe(200)
      expect((await send(server, 'GET', '/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin')).status).toBe(
        200,
      )
    }
  })

  test('maintains the Dangling condition of FlowSchemas', async () => {
    await using store = new MemoryStore()
    await using server = await assembleServer({ store, access })
    const path = '/apis/flowcontrol.apiserver.k8s.io/v1'
    const { registry, resources, signal } = server.parts
    const { storage } = resources.find('flowcontrol.apiserver.k8s.io', 'v1', 'flowschemas')!
    const cache = await registry.feed.cache(storage.prefix)
    const conditionOf = async (status: string): Promise<Answer> => {
      for (;;) {
        const changed = cache.changed(signal)
        const answer = await send(server, 'GET', `${path}/flowschemas/f`)
        if (answer.body.status?.conditions?.[0]?.status === status) return answer
        await changed
      }
    }
    const spec = { priorityLevelConfiguration: { name: 'mine' } }
    await send(server, 'POST', `${path}/flowschemas`, { metadata: { name: 'f' }, spec })
    const { body } = await conditionOf('True')
    expect(body.status.conditions).toMatchObject([{ type: 'Dangling', reason: 'NotFound' }])
    expect(body.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'api-priority-and-fairness-config-consumer-v1', operation: 'Apply' }),
    )
    const level = { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } }
    await send(server, 'POST', `${path}/prioritylevelconfigurations`, { metadata: { name: 'mine' }, spec: level })
    expect((await conditionOf('False')).body.status.conditions).toMatchObject([
      {
        reason: 'Found',
        message: 'This FlowSchema references the PriorityLevelConfiguration object named "mine" and it exists',
      },
    ])
  })

  test('stops everything when it fails to start', async () => {
    const clock = new VirtualClock()
    const watched: (AbortSignal | undefined)[] = []
    class FullStore extends MemoryStore {
      override watch(request: WatchRequest): AsyncIterable<WatchBatch> {
        watched.push(request.signal)
        return super.watch(request)
      }
      override put(): Promise<WriteResult> {
        return Promise.reject(new StorageError('KW_STORAGE_WRITE', 'the disk is full'))
      }
    }
    await using store = new FullStore()
    await expect(assembleServer({ store, clock, access })).rejects.toThrow('the disk is full')
    expect(watched.map((signal) => signal?.aborted)).toEqual([true])
    expect(clock.pending).toEqual([])
  })

  test('supports several servers on one store', async () => {
    await using store = new MemoryStore()
    await using first = await assembleServer({ store, access })
    await using second = await assembleServer({ store, access })
    const maps = '/api/v1/namespaces/default/configmaps'
    await send(first, 'POST', maps, { metadata: { name: 'a' } })
    expect((await send(second, 'GET', `${maps}/a`)).status).toBe(200)
    expect((await send(second, 'GET', maps)).body.items).toHaveLength(1)
  })

  test('stores roles whose names contain any characters', async () => {
    await using store = new MemoryStore()
    await using server = await assembleServer({ store, access })
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles'
    const names = ['règle', 're\u0300gle', '規則', '\u0000', 'a b', '~']
    for (const name of names) expect((await send(server, 'POST', roles, { metadata: { name } })).status).toBe(201)
    for (const name of names) {
      expect((await send(server, 'GET', `${roles}/${encodeURIComponent(name)}`)).body.metadata.name).toBe(name)
      expect((await send(server, 'POST', roles, { metadata: { name } })).status).toBe(409)
    }
    expect((await send(server, 'GET', roles)).body.items).toHaveLength(names.length)
  })

  test('publishAddress() sets the endpoints of the service kubernetes', async () => {
    await using store = new MemoryStore()
    await using server = await assembleServer({ store, access })
    await server.publishAddress({ address: '10.1.2.3', port: 6443 })
    const { body } = await send(server, 'GET', '/api/v1/namespaces/default/endpoints/kubernetes')
    expect(body.subsets).toEqual([
      { addresses: [{ ip: '10.1.2.3' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] },
    ])
  })
})

describe('assembleServer({ kubernetes })', () => {
  const admission = '/apis/admissionregistration.k8s.io/v1'
  const pod = (spec: object): object => ({
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
  })

  test('serves two releases in one process, each with its version, kinds, fields and roles', async () => {
    await using before = new MemoryStore()
    await using after = new MemoryStore()
    await using old = await assembleServer({ store: before, access, kubernetes: '1.35' })
    await using later = await assembleServer({ store: after, access, kubernetes: 'v1.36.2' })
    const minors = await Promise.all([old, later].map(async (one) => (await send(one, 'GET', '/version')).body.minor))
    expect(minors).toEqual(['35', '36'])

    expect((await send(old, 'GET', `${admission}/mutatingadmissionpolicies`)).status).toBe(404)
    expect((await send(later, 'GET', `${admission}/mutatingadmissionpolicies`)).body.kind).toBe(
      'MutatingAdmissionPolicyList',
    )

    const strict = '/api/v1/namespaces/default/pods?fieldValidation=Strict&dryRun=All'
    const grouped = pod({ schedulingGroup: { podGroupName: 'g' } })
    expect((await send(old, 'POST', strict, grouped)).body.message).toContain('unknown field "spec.schedulingGroup"')
    expect((await send(later, 'POST', strict, grouped)).body.message ?? '').not.toContain('unknown field')

    const document = `/openapi/v3/api/v1`
    const podSpec = async (server: AssembledServer): Promise<object> =>
      (await send(server, 'GET', document)).body.components.schemas['io.k8s.api.core.v1.PodSpec'].properties
    expect(Object.keys(await podSpec(old))).not.toContain('schedulingGroup')
    expect(Object.keys(await podSpec(later))).toContain('schedulingGroup')
  })

  test('rejects a release that is not supported', async () => {
    await using store = new MemoryStore()
    await expect(assembleServer({ store, kubernetes: '1.2' })).rejects.toThrow(
      /"1\.2": the supported releases are .*1\.36/,
    )
  })
})
