import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CoreClient, named, problemOf } from '../../../testdata/core-client.ts'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { namespaces } from './namespace.ts'

let client: CoreClient
beforeAll(async () => {
  client = await CoreClient.start()
})
afterAll(() => client[Symbol.asyncDispose]())

const { createErrors } = strategyHarness(namespaces)

describe('namespaces', () => {
  test.each<[string, object, string[]]>([
    [
      'finalizers without a domain',
      { spec: { finalizers: ['x'] } },
      ['spec.finalizers: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified'],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(await createErrors({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'x' }, ...fields })).toEqual(
      errors,
    )
  })

  test('show the phase', () => {
    expect(cellsOf(namespaces, { status: { phase: 'Terminating' } })).toEqual(['x', 'Terminating', '60m'])
  })

  test('stay until finalize removes their finalizers', async () => {
    const created = await client.create('/api/v1/namespaces', named('going'))
    expect(created.body).toMatchObject({
      metadata: { labels: { 'kubernetes.io/metadata.name': 'going' } },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    })
    const deleted = await client.send('DELETE /api/v1/namespaces/going')
    expect(deleted.body).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' },
      status: { phase: 'Terminating' },
    })
    expect((await client.send('DELETE /api/v1/namespaces/going')).body.metadata.resourceVersion).toBe(
      deleted.body.metadata.resourceVersion,
    )
    const finalized = await client.send('PUT /api/v1/namespaces/going/finalize', { body: named('going', { spec: {} }) })
    expect(finalized.body.spec).toEqual({})
    expect((await client.send('GET /api/v1/namespaces/going')).status).toBe(404)
  })

  test('reject a phase that contradicts the deletion timestamp', async () => {
    await client.create('/api/v1/namespaces', named('phase'))
    expect(problemOf(await client.patch('/api/v1/namespaces/phase/status', { status: { phase: 'Terminating' } }))).toBe(
      'status.Phase: Invalid value: "Terminating": may only be \'Active\' if `deletionTimestamp` is empty',
    )
  })

  test('stay when the status is written during deletion', async () => {
    await client.create('/api/v1/namespaces', named('emptied'))
    await client.send('DELETE /api/v1/namespaces/emptied')
    const conditions = [{ type: 'NamespaceContentRemaining', status: 'True' }]
    await client.patch('/api/v1/namespaces/emptied/status', { status: { conditions } })
    expect((await client.send('GET /api/v1/namespaces/emptied')).body).toMatchObject({ status: { conditions } })
  })
})
