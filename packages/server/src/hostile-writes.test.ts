import { maxJsonDepth, newRequestEntityTooLarge } from '@kubewright/api'
import { MemoryStore, StorageError, type WriteResult } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { assembleServer } from './assemble-server.ts'
import type { ServerLimits } from './standard-extensions.ts'
import { PlainServer } from './testdata/plain-server.ts'

const nested = (levels: number): unknown => JSON.parse(`${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`)

test('a patch cannot store an object that is nested deeper than the reader accepts', async () => {
  await using store = new MemoryStore()
  const access = { tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }] }
  await using server = await assembleServer({ store, access })
  const send = async (method: string, path: string, body?: unknown, type = 'application/json') => {
    const { status, body: bytes } = await server.handler({
      method,
      path,
      query: new URLSearchParams(),
      headers: { authorization: 'Bearer root', 'content-type': type },
      body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      signal: new AbortController().signal,
      peer: { address: '127.0.0.1' },
    })
    return { status, text: typeof bytes === 'function' ? '' : Buffer.from(bytes ?? []).toString() }
  }
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
    metadata: { name: 'boxes.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural: 'boxes', kind: 'Box' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  })
  const boxes = '/apis/example.com/v1/boxes'
  await expect.poll(async () => (await send('GET', boxes)).status).toBe(200)
  const box = { apiVersion: 'example.com/v1', kind: 'Box', metadata: { name: 'b' }, data: nested(1500) }
  expect((await send('POST', boxes, box)).status).toBe(201)
  const patch = [{ op: 'add', path: `/data${'/a'.repeat(1400)}`, value: nested(1500) }]
  const answer = await send('PATCH', `${boxes}/b`, patch, 'application/json-patch+json')
  expect(answer.status).toBe(400)
  expect(answer.text).toContain(`the object is nested too deep: it may have at most ${maxJsonDepth} levels`)
  expect((await send('GET', boxes)).status).toBe(200)
  expect((await send('DELETE', `${boxes}/b`)).status).toBe(200)
})

test('a failure of the storage does not show paths of the server to clients', async () => {
  class FullStore extends MemoryStore {
    override put(): Promise<WriteResult> {
      return Promise.reject(new StorageError('KW_STORAGE_WRITE', 'Cannot write /var/lib/data/log: ENOSPC'))
    }
  }
  await using server = await PlainServer.start([], undefined, new FullStore())
  const answer = await server.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } })
  expect(answer.status).toBe(500)
  expect(answer.text).not.toContain('/var/lib')
  expect(answer.body.message).toContain('the storage failed; the log of the server has the cause (request ')
})

const million = (item: string): string => Array(500_000).fill(item).join(',')

test.each([
  ['containers', '/api/v1/namespaces/default/pods', `"containers":[${million('{}')}]`],
  ['ports of a Service', '/api/v1/namespaces/default/services', `"ports":[${million('{}')}]`],
  ['source ranges', '/api/v1/namespaces/default/services', `"loadBalancerSourceRanges":[${million('""')}]`],
])('a body with more keys and items than the limit is refused before it is decoded: %s', async (_, path, spec) => {
  await using server = await limitedServer({})
  const answer = await server.send('POST', path, `{"metadata":{"name":"a"},"spec":{${spec}}}`)
  expect(answer.status).toBe(413)
  expect(answer.text).toContain('Request entity too large: the body has more than 100000 keys and items')
})

test('the validation of an object stops after a number of steps', async () => {
  await using server = await limitedServer({})
  const ports = Array(90_000).fill('{}').join(',')
  const service = `{"metadata":{"name":"a"},"spec":{"ports":[${ports}]}}`
  const answer = await server.send('POST', '/api/v1/namespaces/default/services', service)
  expect(answer.status).toBe(413)
  expect(answer.text).toContain('too many items or errors to validate')
})

const config = (data: object): string =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data })
const keys = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, '']))
const maps = '/api/v1/namespaces/default/configmaps'

test('body.bytes limits the size of bodies', async () => {
  await using server = await limitedServer({ body: { bytes: 500 } })
  expect((await server.send('POST', maps, config({ a: 'x'.repeat(300) }))).status).toBe(201)
  const answer = await server.send('POST', maps, config({ a: 'x'.repeat(500) }))
  expect(answer.status).toBe(413)
})

test.each([
  ['JSON', 'POST', maps, 'application/json', 413],
  ['YAML', 'POST', maps, 'application/yaml', 413],
  ['a merge patch', 'PATCH', `${maps}/c`, 'application/merge-patch+json', 413],
  ['a strategic merge patch', 'PATCH', `${maps}/c`, 'application/strategic-merge-patch+json', 413],
  ['an apply', 'PATCH', `${maps}/c?fieldManager=m`, 'application/apply-patch+yaml', 413],
])('body.values limits the keys and items of %s', async (_, method, path, type, status) => {
  await using server = await limitedServer({ body: { values: 20 } })
  expect((await server.send('POST', maps, config(keys(10)))).status).toBe(201)
  expect((await server.send('DELETE', `${maps}/other`, config(keys(30)))).status).toBe(413)
  const answer = await server.send(method, path, config(keys(30)), type)
  expect(answer.status).toBe(status)
  expect(answer.text).toContain('the body has more than 20 keys and items')
})

test('body.depth limits the nesting of bodies', async () => {
  await using server = await limitedServer({ body: { depth: 3 } })
  expect((await server.send('POST', maps, config({ a: 'b' }))).status).toBe(201)
  const labels = '{"metadata":{"name":"d","managedFields":[{"manager":"a"}]}}'
  const answer = await server.send('POST', maps, labels)
  expect(answer.status).toBe(400)
  expect(answer.text).toContain('the body is nested too deep: it may have at most 3 levels')
})

test('list.objects limits the objects of a page', async () => {
  await using server = await limitedServer({ list: { objects: 2 } })
  for (const name of ['a', 'b', 'c']) await server.send('POST', maps, JSON.stringify({ metadata: { name } }))
  expect((await server.send('GET', maps)).status).toBe(413)
  const { items, metadata } = JSON.parse((await server.send('GET', `${maps}?limit=100`)).text)
  expect(items).toHaveLength(2)
  const rest = await server.send('GET', `${maps}?limit=100&continue=${metadata.continue}`)
  expect(JSON.parse(rest.text).items).toHaveLength(1)
})

test('list.encodedBytes limits a list in protobuf, which is in memory as a whole', async () => {
  await using server = await limitedServer({ list: { encodedBytes: 2 * 1024 * 1024 } })
  const data = { a: 'x'.repeat(900_000) }
  for (const name of ['a', 'b', 'c']) await server.send('POST', maps, JSON.stringify({ metadata: { name }, data }))
  const statusOf = async (path: string, accept: string): Promise<number> =>
    (await server.send('GET', path, undefined, undefined, accept)).status
  expect(await statusOf(maps, 'application/vnd.kubernetes.protobuf')).toBe(413)
  expect(await statusOf(`${maps}?limit=2`, 'application/vnd.kubernetes.protobuf')).toBe(200)
  expect(await statusOf(maps, 'application/yaml')).toBe(200)
  expect(await statusOf(maps, 'application/json')).toBe(200)
})

/** A server with limits and a client that is a member of system:masters. */
async function limitedServer(limits: ServerLimits) {
  const store = new MemoryStore()
  const access = { tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }] }
  const server = await assembleServer({ store, access, limits })
  return {
    async send(method: string, target: string, body = '', type = 'application/json', accept = 'application/json') {
      const [path = '', query] = target.split('?')
      const answer = await server.handler({
        method,
        path,
        query: new URLSearchParams(query),
        headers: { authorization: 'Bearer root', 'content-type': type, accept },
        body: async (limit) => {
          if (body.length > limit) throw newRequestEntityTooLarge(`limit is ${limit}`)
          return Buffer.from(body)
        },
        signal: new AbortController().signal,
        peer: { address: '127.0.0.1' },
      })
      const text = typeof answer.body === 'function' ? '' : Buffer.from(answer.body ?? []).toString()
      return { status: answer.status, text }
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}
