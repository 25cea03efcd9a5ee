import { maxJsonDepth } from '@kubewright/api'
import { MemoryStore, StorageError, type WriteResult } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { assembleServer } from './assemble-server.ts'
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
  await expect.poll(async () => (await send('GET', boxes)).status, { timeout: 10_000 }).toBe(200)
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
