import { maxJsonPatchOperations } from '@kubewright/api'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startCoreServer } from '../../testdata/core-server.ts'
import { CrdServer, crds, definition, widget } from '../../testdata/crd-server.ts'
import type { PlainServer } from '../../testdata/plain-server.ts'

// More items than a call accepts as spread arguments.
const many = 130_000

let core: PlainServer
let custom: CrdServer

beforeAll(async () => {
  core = await startCoreServer()
  custom = await CrdServer.start()
  await custom.define(definition({ type: 'object', properties: { n: { type: 'integer' } } }))
})

afterAll(async () => {
  await core[Symbol.asyncDispose]()
  await custom[Symbol.asyncDispose]()
})

const configMaps = '/api/v1/namespaces/default/configmaps'
const widgets = '/apis/shop.example.com/v1/namespaces/default/widgets'

function numbered<T>(count: number, entry: (i: number) => readonly [string, T]): Record<string, T> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => entry(i)))
}

test('create() refuses an object with very many invalid labels', async () => {
  const labels = numbered(many / 2, (i) => [`${i}!`, '%'])
  const { status, body } = await core.send(`POST ${configMaps}`, { body: { metadata: { name: 'a', labels } } })
  expect(status).toBe(422)
  expect(body.details.causes[0].field).toBe('metadata.labels')
  expect(body.details.causes.length).toBeLessThanOrEqual(10_000)
})

test('create() drops very many unknown fields', async () => {
  const unknown = numbered(90_000, (i) => [`z${i}`, 1])
  expect((await core.send(`POST ${configMaps}`, { body: { metadata: { name: 'u' }, ...unknown } })).status).toBe(201)
  expect((await custom.send(`POST ${widgets}`, { body: widget('u', unknown) })).status).toBe(201)
})

test('create() refuses a definition with very many schema errors', async () => {
  const properties = numbered(90_000, (i) => [`${i}`, {}])
  const { status, body } = await custom.send(`POST ${crds}`, { body: definition({ type: 'object', properties }) })
  expect(status).toBe(413)
  expect(body.message).toContain('limit is 1000000 steps')
})

test('create() quotes a long list of owners a bounded number of times', async () => {
  const owner = (_: unknown, i: number): object => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: `${i}` },
    controller: true,
  })
  const metadata = { name: 'o', ownerReferences: Array.from({ length: 10_000 }, owner) }
  const { status, text } = await core.send(`POST ${configMaps}`, { body: { metadata } })
  expect(status).toBe(422)
  expect(text.length).toBeLessThan(16 * 1024 * 1024)
})

test('patch() refuses very many operations', async () => {
  await core.send(`POST ${configMaps}`, { body: { metadata: { name: 'p' } } })
  const body = Array.from({ length: 45_000 }, () => ({ op: 'test' }))
  const headers = { 'content-type': 'application/json-patch+json' }
  const answer = await core.send(`PATCH ${configMaps}/p`, { body, headers })
  expect(answer.status).toBe(413)
  expect(answer.body.message).toContain(`is ${maxJsonPatchOperations}, got 45000`)
})

test('create() compares many topology spread constraints in linear time', async () => {
  const topologySpreadConstraints = Array.from({ length: 5_000 }, (_, i) => ({ topologyKey: `k${i}` }))
  const spec = { containers: [{ name: 'c', image: 'i' }], topologySpreadConstraints }
  const { status, body } = await core.send('POST /api/v1/namespaces/default/pods', {
    body: { metadata: { name: 's' }, spec },
  })
  expect(status).toBe(422)
  expect(body.details.causes.length).toBeLessThanOrEqual(10_000)
})
