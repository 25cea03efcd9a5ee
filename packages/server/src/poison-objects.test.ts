import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, type LogSink } from '@kubewright/base'
import { MemoryStore, openDurableStore, type Store } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import { type AssembledServer, assembleServer } from './assemble-server.ts'

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`
const meta = '"metadata":{"name":"poison","namespace":"default"}'

/** Stored bytes that cannot be read as an object, by the way in which they are damaged. */
const damages: readonly [string, string | Uint8Array][] = [
  ['too deep', `{"kind":"ConfigMap","apiVersion":"v1",${meta},"data":${nested(2500)}}`],
  ['truncated', `{"kind":"ConfigMap","apiVersion":"v1",${meta},"data":{"a":"`],
  ['empty', ''],
  ['encrypted', 'k8s:enc:aescbc:v1:key1:\u0001\u0002\u0003'],
  ['protobuf', Uint8Array.from([0x6b, 0x38, 0x73, 0, 10, 15, 10, 2, 118, 49])],
  ['a list', '[]'],
  ['null', 'null'],
  ['without metadata', '{"kind":"ConfigMap","apiVersion":"v1"}'],
  ['without a name', '{"kind":"ConfigMap","apiVersion":"v1","metadata":{}}'],
  ['with a number as kind', `{"kind":5,"apiVersion":"v1",${meta}}`],
  [
    'with labels of the wrong type',
    '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"poison","labels":["a"]}}',
  ],
  ['with data of the wrong type', `{"kind":"ConfigMap","apiVersion":"v1",${meta},"data":7}`],
]

const key = '/registry/configmaps/default/poison'
const bytes = (text: string | Uint8Array): Uint8Array => new Uint8Array(Buffer.from(text as string))

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

class Cluster implements AsyncDisposable {
  readonly server: AssembledServer
  readonly store: Store
  readonly logged: string[]

  private constructor(server: AssembledServer, store: Store, logged: string[]) {
    this.server = server
    this.store = store
    this.logged = logged
  }

  static async start(store: Store): Promise<Cluster> {
    const logged: string[] = []
    const sink: LogSink = { enabled: () => false, write: (record) => void logged.push(JSON.stringify(record)) }
    const user = (name: string, ...groups: string[]) => ({ token: name, user: { name, groups } })
    const tokens = [user('root', 'system:masters'), user('alice', 'system:authenticated')]
    return new Cluster(await assembleServer({ store, access: { tokens }, log: createLogger(sink) }), store, logged)
  }

  async send(line: string, body?: unknown, token = 'root'): Promise<Answer> {
    const [method = '', target = ''] = line.split(' ')
    const [path = '', query = ''] = target.split('?')
    const response = await this.server.handler({
      method,
      path,
      query: new URLSearchParams(query),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      signal: new AbortController().signal,
      peer: { address: '127.0.0.1' },
    })
    const text = typeof response.body === 'function' ? '' : Buffer.from(response.body ?? []).toString()
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text.startsWith('{') ? JSON.parse(text) : undefined,
    }
  }

  async names(path: string): Promise<string[]> {
    const { status, body, text } = await this.send(`GET ${path}`)
    expect([status, text.slice(0, 200)]).toEqual([200, expect.anything()])
    return body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]()
  }
}

const maps = '/api/v1/namespaces/default/configmaps'
const unsafe = 'ignoreStoreReadErrorWithClusterBreakingPotential=true'

describe('a stored object that cannot be read', () => {
  test.each(damages)('(%s) affects no other object, and an administrator can delete it', async (_, damaged) => {
    await using store = new MemoryStore()
    await store.put(key, bytes(damaged), 0)
    await using cluster = await Cluster.start(store)
    await cluster.send(`POST ${maps}`, { metadata: { name: 'good' } })
    for (const path of ['/api/v1/configmaps', maps, `${maps}?labelSelector=a!%3Db`, `${maps}?limit=10`]) {
      expect(await cluster.names(path)).toContain('good')
      expect(await cluster.names(path)).not.toContain('poison')
    }
    const listed = await cluster.send(`GET ${maps}`)
    expect(String(listed.headers['warning'])).toContain(
      'the list leaves out stored objects that cannot be read: configmaps default/poison',
    )
    const exact = `${maps}?resourceVersion=${listed.body.metadata.resourceVersion}&resourceVersionMatch=Exact`
    expect(await cluster.names(exact)).toContain('good')
    // It exists: the garbage collector and others must not believe that it was deleted.
    const got = await cluster.send(`GET ${maps}/poison`)
    expect(got).toMatchObject({ status: 500, body: { reason: 'InternalError' } })
    expect(got.body.message).toMatch(
      /^Internal error occurred: StorageError: corrupt object, Code: 7, Key: \/registry\/configmaps\/default\/poison, .*ignoreStoreReadErrorWithClusterBreakingPotential$/s,
    )
    expect((await cluster.send(`PUT ${maps}/poison`, { metadata: { name: 'poison' } })).status).toBe(500)
    expect((await cluster.send(`POST ${maps}`, { metadata: { name: 'poison' } })).body.reason).toBe('AlreadyExists')
    expect((await cluster.send(`DELETE ${maps}/poison`)).status).toBe(500)
    const collection = await cluster.send(`DELETE ${maps}?labelSelector=a%3Db`)
    expect(collection.status).toBe(200)
    // Reported, without failing the server.
    const ready = await cluster.send('GET /readyz?verbose')
    expect(ready.status).toBe(200)
    expect(ready.text).toContain('[+]unreadable-objects ok: 1 found, see /readyz/unreadable-objects\n')
    const detail = await cluster.send('GET /readyz/unreadable-objects')
    expect(detail.text).toContain(`the stored object ${key} cannot be read: `)
    expect((await cluster.send('GET /metrics')).text).toContain('kubewright_apiserver_unreadable_objects 1\n')
    expect(cluster.logged.filter((line) => line.includes(key))).toHaveLength(1)
    // Deleted by the option, which a dry run only tests.
    expect((await cluster.send(`DELETE ${maps}/poison?${unsafe}&dryRun=All`)).status).toBe(200)
    expect((await store.get(key)).entry).toBeDefined()
    const removed = await cluster.send(`DELETE ${maps}/poison?${unsafe}`)
    expect(removed).toMatchObject({
      status: 200,
      body: { status: 'Success', details: { name: 'poison', kind: 'configmaps' } },
    })
    expect((await cluster.send(`GET ${maps}/poison`)).status).toBe(404)
    expect((await cluster.send('GET /readyz/unreadable-objects')).status).toBe(404)
    expect((await cluster.send(`POST ${maps}`, { metadata: { name: 'poison' } })).status).toBe(201)
    expect((await cluster.send(`GET ${maps}`)).headers['warning']).toBeUndefined()
  })

  test('needs a permission of its own to be deleted', async () => {
    await using store = new MemoryStore()
    await store.put(key, bytes('{'), 0)
    await using cluster = await Cluster.start(store)
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
    const rule = (verbs: string[]) => ({ apiGroups: [''], resources: ['configmaps'], verbs })
    const role = { metadata: { name: 'r' }, rules: [rule(['delete', 'list'])] }
    expect((await cluster.send(`POST ${rbac}/roles`, role)).status).toBe(201)
    const subjects = [{ kind: 'User', name: 'alice', apiGroup: 'rbac.authorization.k8s.io' }]
    const roleRef = { kind: 'Role', name: 'r', apiGroup: 'rbac.authorization.k8s.io' }
    await cluster.send(`POST ${rbac}/rolebindings`, { metadata: { name: 'b' }, subjects, roleRef })
    const remove = (): Promise<Answer> => cluster.send(`DELETE ${maps}/poison?${unsafe}`, undefined, 'alice')
    await expect
      .poll(async () => (await remove()).body.message)
      .toBe('configmaps "poison" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: ')
    const more = { ...role, rules: [...role.rules, rule(['unsafe-delete-ignore-read-errors'])] }
    expect((await cluster.send(`PUT ${rbac}/roles/r`, more)).status).toBe(200)
    await expect.poll(async () => (await remove()).status).toBe(200)
  })

  test('is not shown to users who may list another name only', async () => {
    await using store = new MemoryStore()
    await store.put(key, bytes('{'), 0)
    await using cluster = await Cluster.start(store)
    const listed = await cluster.send(`GET ${maps}?fieldSelector=metadata.name%3Dgood`)
    expect(listed.headers['warning']).toBeUndefined()
  })

  test('is deleted for watchers when it becomes unreadable, and new when it can be read again', async () => {
    await using store = new MemoryStore()
    await using cluster = await Cluster.start(store)
    const created = await cluster.send(`POST ${maps}`, { metadata: { name: 'poison' } })
    const stop = new AbortController()
    const response = await cluster.server.handler({
      method: 'GET',
      path: maps,
      query: new URLSearchParams({ watch: '1', resourceVersion: created.body.metadata.resourceVersion }),
      headers: { authorization: 'Bearer root' },
      body: async () => new Uint8Array(),
      signal: stop.signal,
      peer: { address: '127.0.0.1' },
    })
    const seen: string[] = []
    const done = (response.body as (sink: object) => Promise<void>)({
      write: (chunk: Uint8Array) => {
        const { type, object } = JSON.parse(Buffer.from(chunk).toString())
        seen.push(`${type} ${object.metadata.name}`)
        return true
      },
      drained: async () => undefined,
    })
    const { entry } = await store.get(key)
    const { revision } = await store.put(key, bytes('{'), entry!.modRevision)
    await expect.poll(() => seen).toEqual(['DELETED poison'])
    expect(await cluster.names(maps)).not.toContain('poison')
    await cluster.send(`POST ${maps}`, { metadata: { name: 'other' } })
    await store.put(key, entry!.value, revision)
    await expect.poll(() => seen).toEqual(['DELETED poison', 'ADDED other', 'ADDED poison'])
    stop.abort()
    await done
  })

  test('keeps its namespace from being finalized', async () => {
    await using store = new MemoryStore()
    await store.put('/registry/configmaps/doomed/poison', bytes('{'), 0)
    await using cluster = await Cluster.start(store)
    await cluster.send('POST /api/v1/namespaces', { metadata: { name: 'doomed' } })
    const { body } = await cluster.send('DELETE /api/v1/namespaces/doomed')
    const finalize = (): Promise<Answer> =>
      cluster.send('PUT /api/v1/namespaces/doomed/finalize', { ...body, spec: { finalizers: [] } })
    const refused = await finalize()
    expect(refused).toMatchObject({ status: 500, body: { reason: 'StorageReadError' } })
    expect(refused.body.message).toContain('/registry/configmaps/doomed/poison')
    expect((await cluster.send(`DELETE /api/v1/namespaces/doomed/configmaps/poison?${unsafe}`)).status).toBe(200)
    expect((await finalize()).status).toBe(200)
    expect((await cluster.send('GET /api/v1/namespaces/doomed')).status).toBe(404)
  })
})

/** Kinds that the server itself reads. */
const internal: readonly [group: string, version: string, plural: string][] = [
  ...['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'].map((plural): [string, string, string] => [
    'rbac.authorization.k8s.io',
    'v1',
    plural,
  ]),
  ['apiextensions.k8s.io', 'v1', 'customresourcedefinitions'],
  ['apiregistration.k8s.io', 'v1', 'apiservices'],
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].map((plural): [string, string, string] => [
    'admissionregistration.k8s.io',
    'v1',
    plural,
  ]),
  ...['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'].map((plural): [string, string, string] => [
    'admissionregistration.k8s.io',
    'v1',
    plural,
  ]),
  ...['flowschemas', 'prioritylevelconfigurations'].map((plural): [string, string, string] => [
    'flowcontrol.apiserver.k8s.io',
    'v1',
    plural,
  ]),
  ...['resourcequotas', 'limitranges', 'services', 'pods', 'namespaces', 'serviceaccounts', 'secrets', 'nodes'].map(
    (plural): [string, string, string] => ['', 'v1', plural],
  ),
  ['scheduling.k8s.io', 'v1', 'priorityclasses'],
  ['storage.k8s.io', 'v1', 'storageclasses'],
  ['policy', 'v1', 'poddisruptionbudgets'],
]

describe('unreadable objects of the kinds that the server reads itself', () => {
  test.each([
    ['in memory', false],
    ['in a folder, after a restart', true],
  ])('leave access control, admission and custom resources working, %s', async (_, isDurable) => {
    const folder = await mkdtemp(join(tmpdir(), 'kubewright-poison-'))
    const memory = new MemoryStore()
    const open = async (): Promise<Store> => (isDurable ? openDurableStore(join(folder, 'store')) : memory)
    try {
      {
        const store = await open()
        {
          await using cluster = await Cluster.start(store)
          await grantAlice(cluster)
          const { resources, registry } = cluster.server.parts
          for (const [i, name] of internal.entries()) {
            const deep = `{"kind":"X","apiVersion":"v1","metadata":{"name":"poison"},"rules":${nested(2500)}}`
            const poisoned = registry.keyOf(resources.find(...name)!, 'default', 'poison')
            await store.put(poisoned, bytes(i % 2 === 0 ? deep : '{'), 0)
          }
          await works(cluster)
        }
        if (isDurable) await store[Symbol.asyncDispose]()
      }
      const store = await open()
      await using cluster = await Cluster.start(store)
      await works(cluster)
      await store[Symbol.asyncDispose]()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

let round = 0

/** Lets alice read ConfigMaps in the namespace default, and defines a custom resource. */
async function grantAlice(cluster: Cluster): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default'
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }]
  await cluster.send(`POST ${rbac}/roles`, { metadata: { name: 'r' }, rules })
  const apiGroup = 'rbac.authorization.k8s.io'
  await cluster.send(`POST ${rbac}/rolebindings`, {
    metadata: { name: 'b' },
    subjects: [{ kind: 'User', name: 'alice', apiGroup }],
    roleRef: { kind: 'Role', name: 'r', apiGroup },
  })
  await cluster.send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'boxes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'boxes', kind: 'Box' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
    },
  })
}

/** Checks that requests of several kinds succeed. */
async function works(cluster: Cluster): Promise<void> {
  const name = `n${round++}`
  const status = async (line: string, body?: unknown, token?: string): Promise<number> =>
    (await cluster.send(line, body, token)).status
  await expect.poll(() => status(`GET ${maps}`, undefined, 'alice')).toBe(200)
  expect(await status('GET /api/v1/secrets', undefined, 'alice')).toBe(403)
  await cluster.send('POST /api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'default' } })
  const pod = { metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  const created = await cluster.send('POST /api/v1/namespaces/default/pods', pod)
  expect([created.status, created.body.message]).toEqual([201, undefined])
  const service = { metadata: { name }, spec: { ports: [{ port: 80 }] } }
  expect(await status('POST /api/v1/namespaces/default/services', service)).toBe(201)
  const box = { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name } }
  await expect.poll(() => status('POST /apis/example.com/v1/namespaces/default/boxes', box)).toBe(201)
  expect(await status(`DELETE /api/v1/namespaces/default/pods/${name}?gracePeriodSeconds=0`)).toBe(200)
  for (const path of [
    '/apis/rbac.authorization.k8s.io/v1/rolebindings',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    '/apis/apiregistration.k8s.io/v1/apiservices',
    '/api/v1/pods',
    '/api/v1/namespaces',
  ]) {
    expect(await status(`GET ${path}`)).toBe(200)
  }
  const ready = await cluster.send('GET /readyz?verbose')
  expect([ready.status, ready.text]).toEqual([200, expect.stringContaining(`${internal.length} found`)])
}

test('an unreadable object of the bootstrap does not keep the server from starting', async () => {
  await using store = new MemoryStore()
  await (await Cluster.start(store))[Symbol.asyncDispose]()
  const { entries } = await store.list({ prefix: '/registry/' })
  expect(entries.length).toBeGreaterThan(100)
  for (const { key: poisoned, modRevision } of entries) await store.put(poisoned, bytes('{'), modRevision)
  await using cluster = await Cluster.start(store)
  const ready = await cluster.send('GET /readyz?verbose')
  expect([ready.status, ready.text]).toEqual([200, expect.stringContaining(`${entries.length} found`)])
  expect((await cluster.send('GET /readyz/unreadable-objects')).text.split('\n')).toHaveLength(22)
  expect((await cluster.send('GET /api/v1/namespaces')).body.items).toEqual([])
  expect((await cluster.send('GET /readyz/unreadable-objects', undefined, 'alice')).status).toBe(403)
})
