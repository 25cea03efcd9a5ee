import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Backoff, type BackoffOptions, delayWithReset, jitter } from './backoff.ts'
import { seededRandom } from './seeded-random.ts'
import { VirtualClock } from './virtual-clock.ts'

const take = (backoff: Backoff, count: number): number[] => Array.from({ length: count }, () => backoff.step())

describe('Backoff.step()', () => {
  test.each<[name: string, options: BackoffOptions, delays: number[], stepsLeft: number]>([
    ['stays constant without steps', { duration: 10, factor: 2 }, [10, 10, 10], 0],
    ['stays constant without a factor', { duration: '10ms', steps: 5 }, [10, 10, 10], 2],
    ['grows until the steps are used up', { duration: 10, factor: 2, steps: 3 }, [10, 20, 40, 80, 80], 0],
    ['stops growing at the cap', { duration: 10, factor: 3, steps: 9, cap: '50ms' }, [10, 30, 50, 50], 0],
    ['may equal the cap and continue', { duration: 10, factor: 2, steps: 9, cap: 20 }, [10, 20, 20], 0],
    ['shrinks with a factor below 1', { duration: 100, factor: 0.5, steps: 2 }, [100, 50, 25, 25], 0],
    ['stops growing after the steps without a cap', { duration: 1, factor: 10, steps: 2 }, [1, 10, 100, 100], 0],
  ])('%s', (_, options, delays, stepsLeft) => {
    const backoff = new Backoff(options, seededRandom(1))
    expect(take(backoff, delays.length)).toEqual(delays)
    expect(backoff.steps).toBe(stepsLeft)
  })

  test('adds jitter to each delay without accumulating it', () => {
    fc.assert(
      fc.property(fc.integer(), fc.double({ min: 0.01, max: 3, noNaN: true }), (seed, factor) => {
        const options = { duration: 10, factor: 2, steps: 4, cap: 60 }
        const plain = take(new Backoff(options, seededRandom(0)), 6)
        const jittered = take(new Backoff({ ...options, jitter: factor }, seededRandom(seed)), 6)
        for (const [i, delay] of jittered.entries()) {
          expect(delay).toBeGreaterThanOrEqual(plain[i] ?? 0)
          expect(delay).toBeLessThan((plain[i] ?? 0) * (1 + factor) + 1e-9)
        }
      }),
    )
  })

  test('restarts after reset() and on a fresh() sequence', () => {
    const backoff = new Backoff({ duration: 1, factor: 2, steps: 5 }, seededRandom(1))
    expect(take(backoff, 3)).toEqual([1, 2, 4])
    expect(take(backoff.fresh(), 2)).toEqual([1, 2])
    expect(backoff.duration).toBe(8)
    backoff.reset()
    expect([backoff.duration, backoff.steps]).toEqual([1, 5])
  })

  test('rejects a negative factor', () => {
    expect(() => new Backoff({ duration: 1, factor: -1 }, seededRandom(1))).toThrow(RangeError)
  })
})

describe('delayWithReset()', () => {
  const options = { duration: 1, factor: 2, steps: 10 }

  test('restarts when the interval has passed since the last start', async () => {
    const clock = new VirtualClock()
    const delay = delayWithReset(options, '1m', { clock, random: seededRandom(1) })
    expect([delay(), delay(), delay()]).toEqual([1, 2, 4])
    await clock.advance('1m')
    expect(delay()).toBe(8)
    await clock.advance('1ms')
    expect([delay(), delay()]).toEqual([1, 2])
  })

  test('does not grow with an interval of zero', () => {
    const delay = delayWithReset(options, 0, { clock: new VirtualClock(), random: seededRandom(1) })
    expect([delay(), delay(), delay()]).toEqual([1, 1, 1])
  })
})

test('jitter() treats a factor of 0 as 1', () => {
  const delays = Array.from({ length: 100 }, (_, seed) => jitter(10, 0, seededRandom(seed)))
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(10)
  expect(Math.max(...delays)).toBeLessThan(20)
  expect(Math.max(...delays)).toBeGreaterThan(18)
})
