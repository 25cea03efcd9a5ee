import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crdOf, defineResource, encodeYaml } from '@kubewright/api'
import { ConfigMap } from '@kubewright/k8s'
import { defineController, defineOperator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { startTestEnv } from './start-test-env.ts'
import type { TestEnvOptions } from './test-env.ts'

const Counter = defineResource({
  group: 'test.example.com',
  version: 'v1',
  kind: 'Counter',
  spec: s.object({ wanted: s.int() }),
  status: s.object({ count: s.int() }),
})

/** Counts up to the wanted number, one step per minute. */
const operator = defineOperator({
  name: 'counter',
  controllers: [
    defineController(Counter, {
      reconcile({ spec, status }) {
        const count = Math.min((status?.count ?? 0) + 1, spec.wanted)
        return count < spec.wanted ? { status: { count }, requeueAfter: '1m' } : { status: { count } }
      },
    }),
  ],
})

const quick: TestEnvOptions = { time: 'virtual', nodes: 0 }
const counter = (wanted: number) => Counter({ metadata: { name: 'c' }, spec: { wanted } })

describe('TestEnv.eventually()', () => {
  test('advances virtual time until the assertion passes, and returns its result', async () => {
    await using env = await startTestEnv(operator, quick)
    const start = env.clock.now()
    await env.client.create(counter(5))
    const [done] = await env.eventually(async () => {
      const list = await env.client.list(Counter)
      expect(list[0]?.status?.count).toBe(5)
      return list
    })
    expect(done?.metadata.name).toBe('c')
    expect(env.clock.now() - start).toBeGreaterThanOrEqual(240_000)
  })

  test('waits in real time, and for a function that returns false', async () => {
    await using env = await startTestEnv(operator, { nodes: 0 })
    await env.client.create(counter(1))
    const isThere = async () => (await env.client.get(Counter, 'c')).status?.count === 1
    expect(await env.eventually(isThere, { interval: '5ms' })).toBe(true)
  })

  test('rejects with the last failure as its cause', async () => {
    await using env = await startTestEnv(operator, quick)
    await env.client.create(counter(2))
    let calls = 0
    const failing = env.eventually(() => expect(++calls).toBe(0), { timeout: '10s', interval: '5s' })
    await expect(failing).rejects.toMatchObject({
      code: 'KW_TEST_TIMEOUT',
      message: expect.stringContaining('Timed out after 10s waiting for the function to pass: expected 3 to be +0'),
      cause: { actual: 3, expected: 0 },
    })
  })

  test('rejects when the operator has failed permanently', async () => {
    const env = await startTestEnv(operator, quick)
    env.manager!.add({ name: 'broken', phase: 'leader', run: async () => Promise.reject(new Error('out of ideas')) })
    await expect(env.eventually(() => false)).rejects.toMatchObject({ code: 'KW_TEST_OPERATOR_ENDED' })
  })
})

describe('TestEnv.consistently()', () => {
  test('resolves when the function passes until the end, and rejects when it fails once', async () => {
    await using env = await startTestEnv(operator, quick)
    const start = env.clock.now()
    await env.client.create(counter(3))
    const atMostTwo = async () => {
      const { status } = await env.client.get(Counter, 'c')
      expect(status?.count ?? 0).toBeLessThan(3)
    }
    await env.consistently(atMostTwo, { for: '90s' })
    expect(env.clock.now() - start).toBe(90_000)
    await expect(env.consistently(atMostTwo)).rejects.toThrow('The function did not pass for 1m0s: expected 3')
  })
})

describe('TestEnv.update()', () => {
  test('changes an object, again after a conflict', async () => {
    await using env = await startTestEnv(undefined, quick)
    await env.client.create(ConfigMap({ metadata: { name: 'a' }, data: { n: '0' } }))
    let attempts = 0
    const updated = await env.update(ConfigMap, 'a', async (draft) => {
      if (++attempts === 1) await env.client.patch(ConfigMap, 'a', { data: { other: 'x' } })
      draft.data = { ...draft.data, n: '1' }
    })
    expect([attempts, updated.data]).toEqual([2, { n: '1', other: 'x' }])
  })
})

describe('startTestEnv({ install })', () => {
  test('installs the definitions of files, folders and patterns, and refuses paths without any', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'kubewright-crds-'))
    try {
      await writeFile(join(folder, 'counters.yaml'), encodeYaml(crdOf(Counter)))
      await writeFile(join(folder, 'notes.yaml'), encodeYaml(ConfigMap({ metadata: { name: 'notes' } })))
      for (const path of [join(folder, '*.yaml'), folder, join(folder, 'counters.yaml')]) {
        await using env = await startTestEnv(undefined, { ...quick, install: [path] })
        expect((await env.client.create(counter(1))).spec.wanted).toBe(1)
      }
      const notes = join(folder, 'n*.yaml')
      await expect(startTestEnv(undefined, { ...quick, install: [notes] })).rejects.toThrow(
        'notes.yaml: no CustomResourceDefinition',
      )
      await expect(startTestEnv(undefined, { ...quick, install: ['none/*.yaml'] })).rejects.toThrow('no file matches')
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
