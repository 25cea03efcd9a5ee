import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { every } from './clock.ts'
import { VirtualClock } from './virtual-clock.ts'

const START = Date.UTC(2030, 0, 1)

describe('VirtualClock.advance()', () => {
  test('moves wall time and monotonic time by the same amount, exactly', async () => {
    const clock = new VirtualClock({ start: START })
    for (let i = 0; i < 10; i++) await clock.advance(0.1)
    expect([clock.now(), clock.nowMicros(), clock.monotonic()]).toEqual([START + 1, (START + 1) * 1000, 1])
    await clock.advance('1h')
    expect(clock.now()).toBe(START + 3_600_001)
  })

  test('runs due timers at their due time and leaves later ones pending', async () => {
    const clock = new VirtualClock({ start: START })
    const ran: [string, number][] = []
    clock.setTimer(20, () => ran.push(['b', clock.now() - START]))
    clock.setTimer(10, () => ran.push(['a', clock.now() - START]))
    clock.setTimer(31, () => ran.push(['never', clock.now() - START]), 'late')
    await clock.advance(30)
    expect(ran).toEqual([
      ['a', 10],
      ['b', 20],
    ])
    expect(clock.pending).toEqual([{ due: START + 31, delay: 1, sequence: 2, label: 'late' }])
  })

  test('includes the last instant of the period', async () => {
    const clock = new VirtualClock()
    let ran = false
    clock.setTimer(30, () => (ran = true))
    await clock.advance(29.999)
    expect(ran).toBe(false)
    await clock.advance(0.001)
    expect(ran).toBe(true)
  })

  test('completes a promise chain of any length before the next timer', async () => {
    const clock = new VirtualClock()
    const ran: string[] = []
    clock.setTimer(1, () => {
      void (async () => {
        for (let i = 0; i < 5000; i++) await Promise.resolve()
        ran.push('chain')
      })()
    })
    clock.setTimer(1, () => ran.push('next timer'))
    await clock.advance(1)
    expect(ran).toEqual(['chain', 'next timer'])
  })

  test('runs timers that previously started code creates in its next steps', async () => {
    const clock = new VirtualClock()
    const work = async (): Promise<number> => {
      for (let i = 0; i < 50; i++) await Promise.resolve()
      await clock.sleep(100)
      await clock.sleep(100)
      return clock.monotonic()
    }
    const done = work()
    await clock.advance(200)
    expect(await done).toBe(200)
  })

  test('rejects with the error of a callback and continues from there', async () => {
    const clock = new VirtualClock()
    const failure = new Error('boom')
    let ran = false
    clock.setTimer(10, () => {
      throw failure
    })
    clock.setTimer(10, () => (ran = true))
    await expect(clock.advance(50)).rejects.toBe(failure)
    expect([clock.monotonic(), ran]).toEqual([10, false])
    await clock.advance(0)
    expect(ran).toBe(true)
  })

  test('rejects a second advance while one is in progress', async () => {
    const clock = new VirtualClock()
    let nested: Promise<void> | undefined
    clock.setTimer(1, () => {
      nested = clock.advance(1)
      nested.catch(() => undefined)
    })
    await clock.advance(5)
    await expect(nested).rejects.toMatchObject({ code: 'KW_CLOCK_BUSY' })
    expect(clock.monotonic()).toBe(5)
  })

  test.each([-1, Number.POSITIVE_INFINITY])('rejects a duration of %d', async (duration) => {
    const clock = new VirtualClock()
    await expect(clock.advance(duration)).rejects.toThrow(RangeError)
    await clock.advance(1)
  })

  test('calls settle before the first timer and after each timer', async () => {
    const log: string[] = []
    const clock = new VirtualClock({
      settle: async () => {
        log.push('settle')
      },
    })
    clock.setTimer(1, () => log.push('one'))
    clock.setTimer(2, () => log.push('two'))
    await clock.advance(5)
    expect(log).toEqual(['settle', 'one', 'settle', 'two', 'settle'])
  })

  test('runs any set of timers, including nested ones, by due time and then by creation', async () => {
    // Each timer may create one child when it runs.
    const spec = fc.record({ delay: fc.nat(20), child: fc.option(fc.nat(20), { nil: undefined }) })
    await fc.assert(
      fc.asyncProperty(fc.array(spec, { maxLength: 20 }), fc.nat(30), async (specs, window) => {
        const clock = new VirtualClock()
        const created: { readonly due: number; readonly sequence: number }[] = []
        const ran: number[] = []
        const add = (delay: number, child: number | undefined): void => {
          const sequence = created.length
          created.push({ due: clock.monotonic() + delay, sequence })
          clock.setTimer(delay, () => {
            expect(clock.monotonic()).toBe(created[sequence]?.due)
            ran.push(sequence)
            if (child !== undefined) add(child, undefined)
          })
        }
        for (const { delay, child } of specs) add(delay, child)
        await clock.advance(window)
        const expected = created
          .filter((timer) => timer.due <= window)
          .sort((a, b) => a.due - b.due || a.sequence - b.sequence)
        expect(ran).toEqual(expected.map((timer) => timer.sequence))
        expect(clock.pending.length).toBe(created.length - ran.length)
        expect(clock.monotonic()).toBe(window)
      }),
      { numRuns: 50 },
    )
  })
})

describe('VirtualClock.advanceToNext()', () => {
  test('runs exactly one timer and returns whether there was one', async () => {
    const clock = new VirtualClock()
    const ran: string[] = []
    clock.setTimer(5, () => ran.push('a'))
    clock.setTimer(5, () => ran.push('b'))
    expect(await clock.advanceToNext()).toBe(true)
    expect([ran, clock.monotonic()]).toEqual([['a'], 5])
    expect(await clock.advanceToNext()).toBe(true)
    expect(await clock.advanceToNext()).toBe(false)
    expect([ran, clock.monotonic()]).toEqual([['a', 'b'], 5])
  })
})

describe('VirtualClock.runUntilIdle()', () => {
  test('runs all timers and counts them', async () => {
    const clock = new VirtualClock()
    clock.setTimer(1, () => clock.setTimer(1000, () => undefined))
    expect(await clock.runUntilIdle()).toBe(2)
    expect(clock.monotonic()).toBe(1001)
    expect(await clock.runUntilIdle()).toBe(0)
  })

  test('fails at the limit and names the pending timers', async () => {
    const clock = new VirtualClock()
    every(clock, 1000, () => undefined, 'lease renewal')
    await expect(clock.runUntilIdle({ limit: 3 })).rejects.toMatchObject({
      code: 'KW_CLOCK_NOT_IDLE',
      message: 'Cannot run until idle: timers are still pending after 3 have run: lease renewal in 1s',
    })
    expect(clock.monotonic()).toBe(3000)
  })
})

describe('VirtualClock.setTimer()', () => {
  test('is cancelled by cancel(), repeated calls and disposal', async () => {
    const clock = new VirtualClock()
    const first = clock.setTimer(1, () => expect.unreachable())
    first.cancel()
    first.cancel()
    clock.setTimer(1, () => expect.unreachable())[Symbol.dispose]()
    await clock.advance(5)
    expect(clock.pending).toEqual([])
  })

  test('lets one timer cancel another that is due at the same time', async () => {
    const clock = new VirtualClock()
    clock.setTimer(1, () => second.cancel())
    const second = clock.setTimer(1, () => expect.unreachable())
    await clock.advance(1)
  })

  test('treats a negative delay as zero, never runs an infinite one and rejects NaN', async () => {
    const clock = new VirtualClock()
    let ran = false
    clock.setTimer(-5, () => (ran = true))
    clock.setTimer(Number.POSITIVE_INFINITY, () => expect.unreachable())
    expect(ran).toBe(false)
    expect(await clock.runUntilIdle()).toBe(1)
    expect([ran, clock.monotonic()]).toEqual([true, 0])
    expect(() => clock.setTimer(Number.NaN, () => undefined)).toThrow(RangeError)
  })
})

describe('VirtualClock.sleep()', () => {
  test('rejects with the abort reason and leaves no timer behind', async () => {
    const clock = new VirtualClock()
    const controller = new AbortController()
    const sleeping = clock.sleep(1000, { signal: controller.signal })
    expect(clock.pending.length).toBe(1)
    controller.abort('stop')
    await expect(sleeping).rejects.toBe('stop')
    expect(clock.pending).toEqual([])
    await expect(clock.sleep(1, { signal: controller.signal })).rejects.toBe('stop')
    expect(clock.pending).toEqual([])
  })
})

test('VirtualClock.setNow() changes only the wall time', async () => {
  const clock = new VirtualClock({ start: START })
  let ranAt = 0
  clock.setTimer(10, () => (ranAt = clock.monotonic()))
  await clock.advance(5)
  clock.setNow(0)
  expect([clock.now(), clock.monotonic()]).toEqual([0, 5])
  await clock.advance(5)
  expect([clock.now(), ranAt]).toEqual([5, 10])
})

describe('every()', () => {
  test('calls at a fixed rate until cancelled', async () => {
    const clock = new VirtualClock()
    const calls: number[] = []
    const timer = every(clock, 10, () => {
      calls.push(clock.monotonic())
      if (calls.length === 3) timer.cancel()
    })
    await clock.advance(100)
    expect(calls).toEqual([10, 20, 30])
    expect(clock.pending).toEqual([])
  })

  test('skips missed periods and keeps the rate', async () => {
    // Simulates a suspended process: time passes without any timer running.
    class SuspendedClock extends VirtualClock {
      lost = 0
      override monotonic(): number {
        return super.monotonic() + this.lost
      }
    }
    const clock = new SuspendedClock()
    const calls: number[] = []
    every(clock, 10, () => calls.push(clock.monotonic()))
    clock.lost = 25
    await clock.advance(25)
    expect(calls).toEqual([35, 40, 50])
  })

  test('rejects a period of zero', () => {
    expect(() => every(new VirtualClock(), 0, () => undefined)).toThrow(RangeError)
  })

  test('advance() rejects when timers keep running without time passing', async () => {
    const clock = new VirtualClock({ timersPerInstant: 10 })
    const again = (): void => void clock.setTimer(0, again, 'loop')
    again()
    await expect(clock.advance('1s')).rejects.toMatchObject({
      code: 'KW_CLOCK_HOT_LOOP',
      message: expect.stringContaining('"loop"'),
    })
  })
})
