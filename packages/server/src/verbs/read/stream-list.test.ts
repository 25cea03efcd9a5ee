import type { ApiResponse } from '@kubewright/api'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlainServer } from '../../testdata/plain-server.ts'

const maps = '/api/v1/namespaces/a/configmaps'
const count = 300
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io'
const partial = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io'
let server: PlainServer

beforeAll(async () => {
  server = await PlainServer.start()
  for (let i = 0; i < count; i++) {
    const body = { metadata: { name: `m${1000 + i}` }, data: { 'a<b': 'x'.repeat(10_000) } }
    await server.send(`POST ${maps}`, { body })
  }
})
afterAll(() => server[Symbol.asyncDispose]())

async function respond(accept: string, signal = new AbortController().signal): Promise<ApiResponse> {
  return server.server.handler({
    method: 'GET',
    path: maps,
    query: new URLSearchParams(),
    headers: { accept },
    body: async () => Buffer.alloc(0),
    signal,
    peer: { address: '' },
  })
}

describe.each([
  ['objects', 'application/json'],
  ['tables', table],
  ['metadata', partial],
])('large lists of %s', (_, accept) => {
  test('have the content of the pages of the list', async () => {
    const whole = (await server.send(`GET ${maps}`, { headers: { accept } })).body
    const items: unknown[] = []
    let query = 'limit=50'
    for (;;) {
      const page = (await server.send(`GET ${maps}?${query}`, { headers: { accept } })).body
      items.push(...(page.items ?? page.rows))
      if (!page.metadata.continue) break
      query = `limit=50&continue=${page.metadata.continue}`
    }
    expect(items).toHaveLength(count)
    expect(whole.items ?? whole.rows).toEqual(items)
  })

  test('are encoded as fast as the client reads them', async () => {
    const gone = new AbortController()
    const { body } = await respond(accept, gone.signal)
    if (typeof body !== 'function') throw new Error('not streamed')
    const sizes: number[] = []
    let drain: () => void = () => undefined
    const done = body({
      write: (chunk) => sizes.push(chunk.length) === 1,
      drained: () => new Promise((resolve) => (drain = resolve)),
    })
    expect(sizes).toHaveLength(2)
    expect(Math.max(...sizes)).toBeLessThan(1_100_000)
    gone.abort()
    drain()
    await done
    expect(sizes).toHaveLength(2)
  })
})

test('large tables show the rows of small ones for kinds with an internal form', async () => {
  const scalers = '/apis/autoscaling/v1/namespaces/a/horizontalpodautoscalers'
  const spec = { maxReplicas: 3, targetCPUUtilizationPercentage: 50, scaleTargetRef: { kind: 'Deployment', name: 'a' } }
  const annotations = { filler: 'x'.repeat(250_000) }
  for (let i = 0; i < 6; i++) {
    await server.send(`POST ${scalers}`, { body: { metadata: { name: `s${i}`, annotations }, spec } })
  }
  const rowsOf = async (query: string): Promise<unknown[]> =>
    (await server.send(`GET ${scalers}${query}`, { headers: { accept: table } })).body.rows
  const whole = await rowsOf('')
  expect(whole).toHaveLength(6)
  expect(whole.slice(0, 1)).toEqual(await rowsOf('?limit=1'))
})

test('small lists have a length', async () => {
  const { headers } = await server.send(`GET ${maps}?limit=10`)
  expect(headers['content-length']).toBeDefined()
})

test('large lists show every change, also after a list of the same objects', async () => {
  const names = async (): Promise<string[]> =>
    (await server.send(`GET ${maps}`)).body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
  const before = await names()
  expect(await names()).toEqual(before)
  await server.send(`POST ${maps}`, { body: { metadata: { name: 'added' } } })
  expect(await names()).toEqual(['added', ...before])
  await server.send(`PUT ${maps}/added`, { body: { metadata: { name: 'added' }, data: { changed: 'yes' } } })
  const [first] = (await server.send(`GET ${maps}`)).body.items
  expect(first).toMatchObject({ metadata: { name: 'added' }, data: { changed: 'yes' } })
  // Another namespace has a list of its own.
  expect((await server.send('GET /api/v1/namespaces/b/configmaps')).body.items).toEqual([])
  await server.send(`DELETE ${maps}/added`)
  expect(await names()).toEqual(before)
})
