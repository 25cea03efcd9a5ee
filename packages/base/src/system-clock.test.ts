import { describe, expect, test } from 'vitest'
import { systemClock, turnWhenDue } from './system-clock.ts'

describe('systemClock', () => {
  test('nowMicros() does not decrease while the wall time stands still, and agrees with now()', () => {
    let last = 0
    for (let i = 0; i < 1000; i++) {
      const before = systemClock.now()
      const micros = systemClock.nowMicros()
      const after = systemClock.now()
      expect(Number.isSafeInteger(micros)).toBe(true)
      if (before !== after) continue
      expect(Math.floor(micros / 1000)).toBe(before)
      expect(micros).toBeGreaterThanOrEqual(last)
      last = micros
    }
  })

  test('setTimer() never runs the callback synchronously', async () => {
    let ran = false
    const done = new Promise<void>((resolve) => {
      systemClock.setTimer(0, () => {
        ran = true
        resolve()
      })
    })
    expect(ran).toBe(false)
    await done
  })

  test('setTimer() does not fire early for delays beyond the range of setTimeout or infinite delays', async () => {
    const timers = [2 ** 31, 2 ** 40, Number.POSITIVE_INFINITY].map((delay) =>
      systemClock.setTimer(delay, () => expect.unreachable()),
    )
    await systemClock.sleep(1)
    for (const timer of timers) timer.cancel()
  })

  test('setTimer() rejects NaN', () => {
    expect(() => systemClock.setTimer(Number.NaN, () => undefined)).toThrow(RangeError)
  })

  test('sleep() rejects with the abort reason', async () => {
    const controller = new AbortController()
    const sleeping = systemClock.sleep(2 ** 40, { signal: controller.signal })
    controller.abort('stop')
    await expect(sleeping).rejects.toBe('stop')
  })
})

test('turnWhenDue() lets timers run beside an endless promise chain', async () => {
  let isOver = false
  systemClock.setTimer(1, () => (isOver = true))
  let steps = 0
  while (!isOver && steps < 50_000_000) {
    steps++
    await turnWhenDue()
  }
  expect(isOver).toBe(true)
})
