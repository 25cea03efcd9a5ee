import { newConflict } from '@kubewright/api'
import { memoryLogger } from '@kubewright/base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RetryLater, TerminalError } from './reconcile-errors.ts'
import { runController } from './testdata/run-controller.ts'
import { testParts } from './testdata/test-parts.ts'

const step = fc.oneof(
  fc.record({ do: fc.constant('push' as const), key: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ do: fc.constant('wait' as const), millis: fc.integer({ min: 0, max: 40 }) }),
)
const answer = fc.record({
  takes: fc.integer({ min: 0, max: 25 }),
  gives: fc.constantFrom('success', 'requeue', 'error', 'conflict', 'terminal', 'later', 'text'),
})

test('createControllerRunner() never reconciles a key concurrently, forgets none, and becomes idle', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 30 }),
      fc.array(answer, { maxLength: 40 }),
      fc.integer({ min: 1, max: 4 }),
      fc.constantFrom('priority' as const, 'classic' as const),
      async (steps, answers, concurrency, queue) => {
        const parts = testParts({ log: memoryLogger(0) })
        const { clock } = parts
        const running = new Map<string, number>()
        const lastPush = new Map<string, number>()
        const lastStart = new Map<string, number>()
        let most = 0
        let order = 0
        const reconcile = async (key: string) => {
          const at = running.get(key) ?? 0
          running.set(key, at + 1)
          expect(at, `${key} runs already`).toBe(0)
          most = Math.max(
            most,
            [...running.values()].reduce((sum, each) => sum + each, 0),
          )
          lastStart.set(key, order++)
          const { takes, gives } = answers.shift() ?? { takes: 0, gives: 'success' }
          if (takes > 0) await clock.sleep(takes)
          running.set(key, 0)
          if (gives === 'requeue') return { requeueAfter: 15 }
          if (gives === 'error') throw new Error('x')
          if (gives === 'conflict') throw newConflict({ group: '', resource: 'homes' }, key, 'x')
          if (gives === 'terminal') throw new TerminalError('x')
          if (gives === 'later') throw new RetryLater('later', { requeueAfter: 20 })
          if (gives === 'text') return Promise.reject('x')
          return undefined
        }
        await using controller = runController(reconcile, { concurrency, queue, hotLoop: false }, parts)
        for (const each of steps) {
          if (each.do === 'push') {
            controller.source.push(`k${each.key}`)
            lastPush.set(`k${each.key}`, order++)
          } else await clock.advance(each.millis)
        }
        await clock.runUntilIdle()
        expect(most).toBeLessThanOrEqual(concurrency)
        for (const [key, pushed] of lastPush) expect(lastStart.get(key), key).toBeGreaterThan(pushed)
        expect(controller.runner.queue()).toMatchObject({ ready: [], waiting: [], processing: [] })
        expect(parts.metrics.of('active_workers')).toBe(0)
      },
    ),
    { numRuns: 150 },
  )
})
