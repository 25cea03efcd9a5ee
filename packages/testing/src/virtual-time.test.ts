import { readFile } from 'node:fs/promises'
import { condition, defineResource } from '@kubewright/api'
import type { VirtualClock } from '@kubewright/base'
import { ConfigMap } from '@kubewright/k8s'
import { defineController, defineOperator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { isTrue } from './conditions.ts'
import { History } from './history.ts'
import { startTestEnv } from './start-test-env.ts'
import type { TestEnv } from './test-env.ts'

const Counter = defineResource({
  group: 'test.example.com',
  version: 'v1',
  kind: 'Counter',
  spec: s.object({ text: s.string().default('') }),
  status: s.object({ count: s.int(), conditions: s.conditions('Ready') }),
})

const counter = Counter({ metadata: { name: 'c' }, spec: {} })

/** A new timer of the environment; its sequence is the number of timers before it. */
function timerOf({ controlPlane }: TestEnv) {
  const clock = controlPlane.clock as VirtualClock
  using _timer = clock.setTimer(1e12, () => undefined, 'probe')
  return clock.pending.find(({ label }) => label === 'probe')!
}

describe("startTestEnv({ time: 'virtual' })", () => {
  test('starts at the given date, and no time passes until a wait needs it', async () => {
    for (let run = 0; run < 3; run++) {
      await using env = await startTestEnv(undefined, { time: 'virtual', start: '2026-01-01T00:00:00Z' })
      expect(new Date(env.clock.now()).toISOString()).toBe('2026-01-01T00:00:00.000Z')
    }
    const starting = startTestEnv(undefined, { time: 'virtual', start: 'tomorrow' })
    await expect(starting).rejects.toThrow('start must be a date')
  })

  test('gives objects the same uids for the same seed', async () => {
    const uidOf = async (seed: number | undefined) => {
      await using env = await startTestEnv(undefined, { time: 'virtual', seed, controllers: 'none', nodes: 0 })
      return (await env.client.create(ConfigMap({ metadata: { name: '', generateName: 'a-' } }))).metadata
    }
    const { name, uid } = await uidOf(5)
    expect(await uidOf(5)).toMatchObject({ name, uid })
    expect((await uidOf(6)).uid).not.toBe(uid)
    expect((await uidOf(undefined)).uid).toBe((await uidOf(undefined)).uid)
  })

  test('environments of one snapshot generate different uids', async () => {
    await using env = await startTestEnv(undefined, { time: 'virtual', controllers: 'none', nodes: 0 })
    await using snapshot = env.snapshot()
    const uids = new Set<string>()
    for (let i = 0; i < 2; i++) {
      await using branch = await snapshot.start()
      uids.add((await branch.client.create(ConfigMap({ metadata: { name: 'a' } }))).metadata.uid)
    }
    uids.add((await env.client.create(ConfigMap({ metadata: { name: 'a' } }))).metadata.uid)
    expect(uids.size).toBe(3)
  })

  test('does not let time pass while a reconciler waits for files and real timers', async () => {
    const operator = defineOperator({
      name: 'reader',
      controllers: [
        defineController(Counter, {
          async reconcile() {
            const text = await readFile(import.meta.filename, 'utf8')
            await new Promise((resolve) => setTimeout(resolve, 20))
            return { status: { count: text.length, conditions: [condition('Ready', true, 'Read')] } }
          },
        }),
      ],
    })
    await using env = await startTestEnv(operator, { time: 'virtual' })
    const start = env.clock.now()
    await env.client.create(counter)
    await env.until(Counter, 'c', isTrue('Ready'))
    expect(env.clock.now()).toBe(start)
  })

  test('an idle environment sends no requests and sets hardly any timers', async () => {
    const history = new History()
    await using env = await startTestEnv(undefined, { time: 'virtual', intercept: history.intercept })
    // The store's history of the start is compacted after five minutes.
    await env.advance('10m')
    const before = history.lines.length
    const { sequence } = timerOf(env)
    await env.advance('23h')
    expect(history.lines.slice(before)).toEqual([])
    expect(timerOf(env).sequence - sequence).toBeLessThan(10)
  })

  test('reports a controller that keeps writing without time passing', async () => {
    const operator = defineOperator({
      name: 'busy',
      controllers: [
        defineController(Counter, {
          reconcileOwnWrites: true,
          reconcile: ({ status }) => ({
            status: { count: (status?.count ?? 0) + 1, conditions: [condition('Ready', true, 'Counted')] },
          }),
        }),
      ],
    })
    const hot = {
      code: 'KW_TEST_HOT_LOOP',
      message: expect.stringMatching(/the operator sent "P.*counters\/c\/status"/),
    }
    await using env = await startTestEnv(operator, { time: 'virtual', controllers: 'none', nodes: 0 })
    await env.client.create(counter)
    await expect(env.settled({ timeout: '1m' })).rejects.toMatchObject(hot)
    await expect(env.advance('1m')).rejects.toMatchObject(hot)
    // A thousand writes take long on a busy machine.
  }, 180_000)
})
