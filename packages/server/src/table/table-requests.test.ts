import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AccessFixture, type Answer } from '../testdata/access-fixture.ts'

let server: AccessFixture
beforeEach(async () => {
  server = await AccessFixture.start()
})
afterEach(() => server[Symbol.asyncDispose]())

const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases'
const lease = (name: string): object => ({ metadata: { name }, spec: { holderIdentity: 'me' } })
const send = (line: string, body?: unknown, version = 'v1'): Promise<Answer> =>
  server.send(line, { body, headers: { accept: `application/json;as=Table;v=${version};g=meta.k8s.io` } })

describe('requests for a Table', () => {
  test('answer writes with a row of the object', async () => {
    const created = await send(`POST ${leases}`, lease('a'))
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 'me', '0s'] }] })
    expect(created.body.metadata).toEqual({ resourceVersion: created.body.rows[0].object.metadata.resourceVersion })
  })

  test('list in pages, in both versions of Table', async () => {
    for (const name of ['a', 'b', 'c']) await send(`POST ${leases}`, lease(name))
    const { body } = await send(`GET ${leases}?limit=2&includeObject=None`, undefined, 'v1beta1')
    expect(body).toMatchObject({
      apiVersion: 'meta.k8s.io/v1beta1',
      metadata: { remainingItemCount: 1, continue: expect.any(String) },
      rows: [
        { cells: ['a', 'me', '0s'], object: null },
        { cells: ['b', 'me', '0s'], object: null },
      ],
    })
  })

  test('answer the deletion of a collection with the deleted objects', async () => {
    await send(`POST ${leases}`, lease('a'))
    expect((await send(`DELETE ${leases}`)).body).toMatchObject({ kind: 'Table', rows: [{ cells: ['a', 'me', '0s'] }] })
  })

  test('answer the deletion of one object with a Status', async () => {
    await send(`POST ${leases}`, lease('a'))
    expect((await send(`DELETE ${leases}/a`)).body).toMatchObject({ kind: 'Status', status: 'Success' })
  })

  test.each(['', '&watch=true'])('reject an unknown includeObject (%s)', async (watch) => {
    const { status, body } = await send(`GET ${leases}?includeObject=Some${watch}`)
    expect(status).toBe(400)
    expect(body.message).toBe(
      `Unable to convert to Table as requested: includeObject: Invalid value: "Some": must be 'Metadata', 'Object', 'None', or empty`,
    )
  })

  test('check includeObject after the write, which is not undone', async () => {
    expect((await send(`POST ${leases}?includeObject=Some`, lease('a'))).status).toBe(400)
    expect((await send(`GET ${leases}/a?includeObject=Object`)).body.rows[0].object).toMatchObject(lease('a'))
  })

  test('show the columns of a scale', async () => {
    const labels = { a: 'b' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const path = '/apis/apps/v1/namespaces/default/replicasets'
    const spec = { replicas: 2, selector: { matchLabels: labels }, template }
    await send(`POST ${path}`, { metadata: { name: 'r' }, spec })
    expect((await send(`GET ${path}/r`)).body.rows[0].cells).toEqual(['r', 2, 0, 0, '0s', 'c', 'i', 'a=b'])
    expect((await send(`GET ${path}/r/scale`)).body.rows[0].cells).toEqual(['r', 2, 0, '0s'])
    expect((await send(`GET ${path}/r/status`)).body.rows[0].cells).toHaveLength(8)
  })
})

describe('requests for metadata', () => {
  const metadata = (line: string, as: string): Promise<Answer> =>
    server.send(line, { headers: { accept: `application/json;as=${as};v=v1;g=meta.k8s.io` } })

  test('list metadata, with null for an empty list', async () => {
    expect((await metadata(`GET ${leases}`, 'PartialObjectMetadataList')).body).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: null,
    })
    await send(`POST ${leases}`, lease('a'))
    const { body } = await metadata(`GET ${leases}`, 'PartialObjectMetadataList')
    expect(body.items).toMatchObject([{ kind: 'PartialObjectMetadata', metadata: { name: 'a' } }])
    expect(body.items[0].spec).toBeUndefined()
  })

  test('reject a list of one object, and an object of a list', async () => {
    await send(`POST ${leases}`, lease('a'))
    expect(await metadata(`GET ${leases}`, 'PartialObjectMetadata')).toMatchObject({
      status: 406,
      body: {
        reason: 'NotAcceptable',
        message: 'you requested PartialObjectMetadata, but the requested object is a list (*coordination.LeaseList)',
      },
    })
    expect((await metadata(`GET ${leases}/a`, 'PartialObjectMetadataList')).body.message).toBe(
      'you requested PartialObjectMetadataList, but the requested object is not a list (*coordination.Lease)',
    )
    expect((await metadata('GET /apis/events.k8s.io/v1/events', 'PartialObjectMetadata')).body.message).toContain(
      '(*core.EventList)',
    )
  })
})
