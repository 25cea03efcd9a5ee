import { seededRandom, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import {
  bucketRateLimiter,
  defaultRateLimiter,
  itemExponentialRateLimiter,
  itemFastSlowRateLimiter,
  maxOfRateLimiter,
  withJitter,
  withMaxWait,
} from './rate-limiter.ts'

describe('itemExponentialRateLimiter()', () => {
  test('doubles the delay from 5 ms to 1000 s, per key', () => {
    const limiter = itemExponentialRateLimiter()
    const waits = Array.from({ length: 20 }, () => limiter.when('a'))
    expect(waits.slice(0, 4)).toEqual([5, 10, 20, 40])
    expect(waits.slice(17)).toEqual([655_360, 1_000_000, 1_000_000])
    expect([limiter.when('b'), limiter.numRequeues('a'), limiter.numRequeues('b')]).toEqual([5, 20, 1])
  })

  test('stays at the maximum after any number of failures', () => {
    const limiter = itemExponentialRateLimiter({ base: 1, max: '1m' })
    for (let i = 0; i < 2000; i++) limiter.when('a')
    expect(limiter.when('a')).toBe(60_000)
  })

  test('restarts at the base delay after forget()', () => {
    const limiter = itemExponentialRateLimiter()
    limiter.when('a')
    limiter.when('a')
    limiter.forget('a')
    expect([limiter.numRequeues('a'), limiter.when('a')]).toEqual([0, 5])
  })
})

test('itemFastSlowRateLimiter() switches from fast to slow after maxFastAttempts', () => {
  const limiter = itemFastSlowRateLimiter({ fast: 5, slow: '10s', maxFastAttempts: 3 })
  expect(Array.from({ length: 5 }, () => limiter.when('a'))).toEqual([5, 5, 5, 10_000, 10_000])
  limiter.forget('a')
  expect(limiter.when('a')).toBe(5)
})

describe('bucketRateLimiter()', () => {
  test('allows a burst, then spaces retries evenly over all keys', () => {
    const limiter = bucketRateLimiter({ clock: new VirtualClock(), qps: 10, burst: 2 })
    expect(['a', 'b', 'c', 'a'].map((key) => limiter.when(key))).toEqual([0, 0, 100, 200])
    expect(limiter.numRequeues('a')).toBe(0)
  })

  test('refills with time, up to the burst', async () => {
    const clock = new VirtualClock()
    const limiter = bucketRateLimiter({ clock, qps: 10, burst: 2 })
    for (let i = 0; i < 4; i++) limiter.when('a')
    await clock.advance('1h')
    expect([limiter.when('a'), limiter.when('a'), limiter.when('a')]).toEqual([0, 0, 100])
  })

  test.each([{ qps: 0 }, { burst: 0 }])('rejects %o', (options) => {
    expect(() => bucketRateLimiter({ clock: new VirtualClock(), ...options })).toThrow(RangeError)
  })
})

test('maxOfRateLimiter() calls all limiters and uses the longest delay', () => {
  const slow = itemFastSlowRateLimiter({ fast: 7, slow: 7, maxFastAttempts: 1 })
  const limiter = maxOfRateLimiter(itemExponentialRateLimiter(), slow)
  expect([limiter.when('a'), limiter.when('a')]).toEqual([7, 10])
  expect([limiter.numRequeues('a'), slow.numRequeues('a')]).toEqual([2, 2])
  limiter.forget('a')
  expect(slow.numRequeues('a')).toBe(0)
})

test('withMaxWait() limits the delay of another limiter', () => {
  const limiter = withMaxWait(itemExponentialRateLimiter(), 12)
  expect([limiter.when('a'), limiter.when('a'), limiter.when('a')]).toEqual([5, 10, 12])
})

test('defaultRateLimiter() is exponential per key until the shared bucket of 100 is empty', () => {
  const limiter = defaultRateLimiter({ clock: new VirtualClock() })
  for (let i = 0; i < 100; i++) expect(limiter.when(`k${i}`)).toBe(5)
  expect(limiter.when('k100')).toBe(100)
})

test('withJitter() extends each delay by up to its factor and delegates counting to the inner limiter', () => {
  const limiter = withJitter(itemExponentialRateLimiter(), seededRandom(1), 0.5)
  const waits = Array.from({ length: 50 }, (_, i) => limiter.when(`k${i}`))
  expect(waits.every((wait) => wait >= 5 && wait <= 7.5)).toBe(true)
  expect(new Set(waits).size).toBeGreaterThan(40)
  expect(limiter.numRequeues('k0')).toBe(1)
  limiter.forget('k0')
  expect(limiter.numRequeues('k0')).toBe(0)
})
