import { describe, expect, test } from 'vitest'
import { retry } from './retry.ts'
import { seededRandom } from './seeded-random.ts'
import { VirtualClock } from './virtual-clock.ts'

const setup = () => {
  const clock = new VirtualClock()
  const times: number[] = []
  const failing = (until: number) => (attempt: number) => {
    times.push(clock.monotonic())
    if (attempt < until) throw new Error(`attempt ${attempt}`)
    return `attempt ${attempt}`
  }
  return { clock, times, failing, random: seededRandom(1) }
}
const backoff = { duration: 10, factor: 2, steps: 4 }

describe('retry()', () => {
  test('resolves to the first success, after the back-off delays', async () => {
    const { clock, times, failing, random } = setup()
    const result = retry(failing(3), { clock, random, backoff })
    await clock.runUntilIdle()
    expect(await result).toBe('attempt 3')
    expect(times).toEqual([0, 10, 30])
  })

  test('rejects with the last error when the attempts are used up', async () => {
    const { clock, times, failing, random } = setup()
    const result = expect(retry(failing(9), { clock, random, backoff })).rejects.toThrow('attempt 4')
    await clock.runUntilIdle()
    await result
    expect(times).toEqual([0, 10, 30, 70])
  })

  test('continues retrying at the cap', async () => {
    const { clock, times, failing, random } = setup()
    const result = retry(failing(6), {
      clock,
      random,
      backoff: { ...backoff, steps: Number.POSITIVE_INFINITY, cap: 15 },
    })
    await clock.runUntilIdle()
    expect(await result).toBe('attempt 6')
    expect(times).toEqual([0, 10, 25, 40, 55, 70])
  })

  test('stops when retryIf returns false', async () => {
    const { clock, failing, random } = setup()
    const retryIf = (error: unknown, attempt: number): boolean => attempt < 2 && error instanceof Error
    const result = expect(retry(failing(9), { clock, random, backoff, retryIf })).rejects.toThrow('attempt 2')
    await clock.runUntilIdle()
    await result
  })

  test('stops with the abort reason, both while waiting and while working', async () => {
    const { clock, failing, random } = setup()
    const controller = new AbortController()
    const options = { clock, random, backoff, signal: controller.signal }
    const waiting = expect(retry(failing(9), options)).rejects.toBe('stop')
    const working = expect(retry(() => clock.sleep(100, options), options)).rejects.toBe('stop')
    await clock.advance(5)
    controller.abort('stop')
    await Promise.all([waiting, working])
    expect(clock.pending).toEqual([])
    await expect(retry(() => expect.unreachable(), options)).rejects.toBe('stop')
  })

  test('rejects a back-off without steps', async () => {
    const { clock, random } = setup()
    await expect(retry(() => 1, { clock, random, backoff: { duration: 1, steps: 0 } })).rejects.toThrow(RangeError)
  })
})
