import { describe, expect, test } from 'vitest'
import { bucketRateLimiter } from '../queue/rate-limiter.ts'
import { keyType } from './key-type.ts'
import { runController } from './testdata/run-controller.ts'

describe('KeyControllerOptions.debounce', () => {
  test('joins all changes within the time into one reconcile', async () => {
    const runs: number[] = []
    await using running = runController((_, { causes }) => void runs.push(causes.length), { debounce: '1s' })
    const { clock } = running.parts
    await running.push('a')
    await clock.advance(900)
    await running.push('a')
    expect([runs.length, running.waiting()]).toEqual([0, { a: 100 }])
    await clock.advance(100)
    expect([runs.length, running.waiting()]).toEqual([1, {}])
    await running.push('a')
    await clock.advance(1000)
    expect(runs).toHaveLength(2)
  })
})

describe('KeyControllerOptions.minInterval', () => {
  test('starts the first reconcile at once, and delays the next one of the same key only', async () => {
    const starts: string[] = []
    await using running = runController((key, { now }) => void starts.push(`${key} ${now().getTime() - epoch}`), {
      minInterval: '10s',
    })
    const { clock } = running.parts
    const epoch = clock.now()
    await running.push('a')
    await clock.advance(4000)
    await running.push('a', 'b')
    expect(running.waiting()).toEqual({ a: 6000 })
    await clock.advance(6000)
    await clock.advance(20_000)
    await running.push('a')
    expect(starts).toEqual(['a 0', 'b 4000', 'a 10000', 'a 30000'])
  })

  test('also delays retries and requeues', async () => {
    const outcomes = [{ requeueAfter: '1s' as const }, new Error('x'), undefined]
    await using running = runController(
      () => {
        const outcome = outcomes.shift()
        if (outcome instanceof Error) throw outcome
        return outcome
      },
      { minInterval: '10s' },
    )
    await running.push('a')
    expect(running.waiting()).toEqual({ a: 10_000 })
    await running.parts.clock.advance(10_000)
    expect(running.waiting()).toEqual({ a: 10_000 })
  })
})

test('KeyControllerOptions.rateLimiter receives the clock and the random source of the manager', async () => {
  let parts: unknown
  await using running = runController(() => undefined, {
    rateLimiter: (given) => {
      parts = given
      return bucketRateLimiter(given)
    },
  })
  expect(parts).toMatchObject({ clock: running.parts.clock, random: expect.anything() })
})

test('KeyControllerOptions.keys gives typed keys to the reconciler', async () => {
  const share = keyType('tenant', 'region')
  const seen: unknown[] = []
  await using running = runController((key) => void seen.push(key), { keys: share as never })
  await running.push(share.format({ tenant: 'a/b', region: 'eu' }))
  expect([seen, running.records[0]?.key]).toEqual([[{ tenant: 'a/b', region: 'eu' }], 'a%2Fb/eu'])
  expect(() => share.parse('a')).toThrow('does not have the parts tenant/region')
})
