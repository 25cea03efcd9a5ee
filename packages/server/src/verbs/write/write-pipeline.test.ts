import { newForbidden } from '@kubewright/api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AdmissionPlugin } from '../../admission/admission.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../builtins/define-builtin.ts'
import { PlainServer } from '../../testdata/plain-server.ts'

const maps = '/api/v1/namespaces/a/configmaps'
const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }

/** The steps that the pipeline ran, in order. */
let steps: string[]
/** Runs during validating admission of the next write. */
let meanwhile: (() => Promise<unknown>) | undefined
let server: PlainServer

const observer: AdmissionPlugin = {
  name: 'Observer',
  mutate: async ({ operation, name }) => {
    steps.push(`mutate ${operation} ${name}`)
  },
  validate: async ({ operation, object }) => {
    steps.push(`validate ${operation} ${object?.metadata.annotations?.['from'] ?? ''}`.trim())
    const run = meanwhile
    meanwhile = undefined
    await run?.()
    if (object?.metadata.annotations?.['refused']) throw newForbidden({ group: '', resource: 'configmaps' }, '', 'no')
  },
}

const undo = (what: string) => async () => {
  steps.push(`undo ${what}`)
}

const configMaps: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'configmaps',
  strategy: {
    beginCreate: async () => {
      steps.push('reserve create')
      return undo('create')
    },
    beginUpdate: async () => {
      steps.push('reserve update')
      return undo('update')
    },
    afterUpdate: () => void steps.push('stored'),
  },
})

beforeEach(async () => {
  steps = []
  meanwhile = undefined
  server = await PlainServer.start([configMaps], async () => ({ admission: [observer] }))
})
afterEach(() => server[Symbol.asyncDispose]())

const annotated = (from: string) => ({ metadata: { annotations: { from } } })

describe('writeObject()', () => {
  beforeEach(async () => {
    await server.send(`POST ${maps}`, { body: { metadata: { name: 'm' } } })
    steps = []
  })

  test('runs admission, reservation and commit in one direction', async () => {
    await server.send(`PATCH ${maps}/m`, { headers: merge, body: annotated('x') })
    expect(steps).toEqual(['mutate UPDATE m', 'reserve update', 'validate UPDATE x', 'stored'])
  })

  test('releases the reservation and starts again with the newest object when another write came first', async () => {
    meanwhile = () => server.send(`PATCH ${maps}/m`, { headers: merge, body: { data: { other: '1' } } })
    const answer = await server.send(`PATCH ${maps}/m`, { headers: merge, body: { data: { own: '2' } } })
    expect([answer.status, answer.body.data]).toEqual([200, { other: '1', own: '2' }])
    const once = ['mutate UPDATE m', 'reserve update', 'validate UPDATE']
    expect(steps).toEqual([...once, ...once, 'stored', 'undo update', ...once, 'stored'])
  })

  test('returns 409 instead of retrying when the update specifies a resourceVersion', async () => {
    const { body } = await server.send(`GET ${maps}/m`)
    meanwhile = () => server.send(`PATCH ${maps}/m`, { headers: merge, body: { data: { other: '1' } } })
    const answer = await server.send(`PUT ${maps}/m`, { body: { ...body, data: { own: '2' } } })
    expect([answer.status, answer.body.reason]).toEqual([409, 'Conflict'])
  })

  test('releases the reservation when validating admission rejects the object', async () => {
    const body = { metadata: { annotations: { refused: 'yes' } } }
    expect((await server.send(`PATCH ${maps}/m`, { headers: merge, body })).status).toBe(403)
    expect(steps).toEqual(['mutate UPDATE m', 'reserve update', 'validate UPDATE', 'undo update'])
  })

  test('recreates an object that is deleted during an apply', async () => {
    meanwhile = () => server.send(`DELETE ${maps}/m`)
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'm' }, data: { a: '1' } }
    const answer = await server.send(`PATCH ${maps}/m?fieldManager=me`, { headers: apply, body })
    expect([answer.status, answer.body.data]).toEqual([201, { a: '1' }])
    expect(steps.filter((step) => step.startsWith('undo'))).toEqual(['undo update'])
  })

  test('replaces an object that is created during an apply', async () => {
    meanwhile = () => server.send(`POST ${maps}`, { body: { metadata: { name: 'n' }, data: { other: '1' } } })
    const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'n' }, data: { own: '2' } }
    const answer = await server.send(`PATCH ${maps}/n?fieldManager=me`, { headers: apply, body })
    expect([answer.status, answer.body.data]).toEqual([200, { other: '1', own: '2' }])
    expect(steps.filter((step) => step.startsWith('undo'))).toEqual(['undo create'])
  })

  test('keeps the reservation of an update without effect', async () => {
    await server.send(`PATCH ${maps}/m`, { headers: merge, body: {} })
    expect(steps).toEqual(['mutate UPDATE m', 'reserve update', 'validate UPDATE'])
  })
})

describe('createObject()', () => {
  test('releases the reservation when the name is taken', async () => {
    const body = { metadata: { name: 'm' } }
    await server.send(`POST ${maps}`, { body })
    steps = []
    expect((await server.send(`POST ${maps}`, { body })).status).toBe(409)
    expect(steps).toEqual(['mutate CREATE m', 'reserve create', 'validate CREATE', 'undo create'])
  })

  test('shows admission the generated name only after mutating admission', async () => {
    const answer = await server.send(`POST ${maps}`, { body: { metadata: { generateName: 'gen-' } } })
    expect(answer.body.metadata.name).toMatch(/^gen-.{5}$/)
    expect(steps).toEqual(['mutate CREATE ', 'reserve create', 'validate CREATE'])
  })
})

describe('deleteObject()', () => {
  test('plans again when another write came first', async () => {
    await server.send(`POST ${maps}`, { body: { metadata: { name: 'm' } } })
    steps = []
    const finalizers = ['example.com/f']
    meanwhile = () => server.send(`PATCH ${maps}/m`, { headers: merge, body: { metadata: { finalizers } } })
    const answer = await server.send(`DELETE ${maps}/m`)
    expect(answer.body.metadata.deletionTimestamp).toBe('2026-01-02T03:04:05Z')
    expect(steps.filter((step) => step.includes('DELETE'))).toEqual([
      'mutate DELETE m',
      'validate DELETE',
      'mutate DELETE m',
      'validate DELETE',
    ])
  })
})
