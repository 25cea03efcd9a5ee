import { describe, expect, test } from 'vitest'
import { abortable, linkSignals } from './link-signals.ts'
import { VirtualClock } from './virtual-clock.ts'
import { withDeadline, withLazyDeadline } from './with-deadline.ts'

const never = new Promise<never>(() => undefined)

describe('withDeadline()', () => {
  test('returns the result in time and leaves no timer behind', async () => {
    const clock = new VirtualClock()
    const result = withDeadline(clock, '5s', 'list Home', async (signal) => {
      await clock.sleep(4000, { signal })
      return 'done'
    })
    await clock.advance('4s')
    expect(await result).toBe('done')
    expect(clock.pending).toEqual([])
  })

  test('names the operation that timed out, even if it ignores its signal', async () => {
    const clock = new VirtualClock()
    let seen: AbortSignal | undefined
    const result = withDeadline(clock, '1m', 'list Home (ajd.example.com/v1)', (signal) => {
      seen = signal
      return never
    })
    const failure = expect(result).rejects.toMatchObject({
      code: 'KW_DEADLINE_EXCEEDED',
      message: 'Timed out after 1m0s: list Home (ajd.example.com/v1)',
    })
    expect(clock.pending.map((timer) => timer.label)).toEqual(['deadline: list Home (ajd.example.com/v1)'])
    await clock.advance('1m')
    await failure
    expect(seen?.reason).toMatchObject({ code: 'KW_DEADLINE_EXCEEDED' })
  })

  test('rejects with the reason of the given signal, and with the error of the operation', async () => {
    const clock = new VirtualClock()
    const controller = new AbortController()
    const result = withDeadline(clock, '1m', 'work', () => never, { signal: controller.signal })
    controller.abort('stop')
    await expect(result).rejects.toBe('stop')
    await expect(withDeadline(clock, '1m', 'work', () => never, { signal: controller.signal })).rejects.toBe('stop')
    const failing = (): Promise<never> => Promise.reject(new Error('no'))
    await expect(withDeadline(clock, '1m', 'work', failing)).rejects.toThrow('no')
    expect(clock.pending).toEqual([])
  })
})

describe('linkSignals()', () => {
  test('follows the first parent that aborts, with its reason', () => {
    const [a, b] = [new AbortController(), new AbortController()]
    const link = linkSignals(a.signal, undefined, b.signal)
    expect(link.signal.aborted).toBe(false)
    b.abort('b')
    a.abort('a')
    expect(link.signal.reason).toBe('b')
  })

  test('starts aborted when a parent already is', () => {
    expect(linkSignals(undefined, AbortSignal.abort('early')).signal.reason).toBe('early')
  })

  test('aborts without affecting the parents', () => {
    const parent = new AbortController()
    const link = linkSignals(parent.signal)
    link.abort('mine')
    expect([link.signal.reason, parent.signal.aborted]).toEqual(['mine', false])
  })

  test('stops following when disposed', () => {
    const parent = new AbortController()
    const link = linkSignals(parent.signal)
    link[Symbol.dispose]()
    parent.abort()
    expect(link.signal.aborted).toBe(false)
  })
})

describe('linkSignals(), without reading the signal,', () => {
  test('calls listeners once, after which its state is known', () => {
    const parent = new AbortController()
    const link = linkSignals(parent.signal)
    const calls: unknown[] = []
    link.onAbort(() => calls.push(link.aborted, link.reason))
    link.onAbort(() => calls.push('removed'))()
    expect(link.aborted).toBe(false)
    parent.abort('stop')
    link.abort('later')
    expect(calls).toEqual([true, 'stop'])
    expect([link.signal.aborted, link.signal.reason]).toEqual([true, 'stop'])
  })

  test('calls a listener immediately if it has aborted already', () => {
    const link = linkSignals(AbortSignal.abort('early'))
    const calls: unknown[] = []
    link.onAbort(() => calls.push(link.reason))()
    expect(calls).toEqual(['early'])
  })

  test('follows another link, and not after it is disposed', () => {
    const parent = linkSignals()
    const [kept, left] = [linkSignals(parent), linkSignals(parent)]
    left[Symbol.dispose]()
    parent.abort('stop')
    expect([kept.reason, left.aborted]).toEqual(['stop', false])
  })

  test('aborts with an AbortError by default, like an AbortController', () => {
    const link = linkSignals()
    link.abort()
    expect(link.reason).toMatchObject({ name: 'AbortError' })
    expect(link.signal.reason).toBe(link.reason)
  })
})

describe('withLazyDeadline()', () => {
  test('aborts what it passes, and rejects, on timeout', async () => {
    const clock = new VirtualClock()
    const reasons: unknown[] = []
    const result = withLazyDeadline(clock, '1s', 'work', (limited) => {
      limited.onAbort(() => reasons.push(limited.reason))
      return never
    })
    const failure = expect(result).rejects.toMatchObject({ code: 'KW_DEADLINE_EXCEEDED' })
    await clock.advance('1s')
    await failure
    expect(reasons).toMatchObject([{ code: 'KW_DEADLINE_EXCEEDED' }])
  })

  test('rejects with what the function throws, and leaves no timer behind', async () => {
    const clock = new VirtualClock()
    const throwing = (): never => {
      throw new Error('no')
    }
    await expect(withLazyDeadline(clock, '1s', 'work', throwing)).rejects.toThrow('no')
    expect(clock.pending).toEqual([])
  })
})

describe('abortable()', () => {
  test('accepts a link', async () => {
    const link = linkSignals()
    const waiting = abortable(never, link)
    link.abort('stop')
    await expect(waiting).rejects.toBe('stop')
  })

  test('settles like the promise', async () => {
    const { signal } = new AbortController()
    expect(await abortable(Promise.resolve(1), signal)).toBe(1)
    expect(await abortable(Promise.resolve(1), undefined)).toBe(1)
    await expect(abortable(Promise.reject('no'), signal)).rejects.toBe('no')
  })

  test('rejects with the abort reason, before and after the work started', async () => {
    const controller = new AbortController()
    const waiting = abortable(never, controller.signal)
    controller.abort('stop')
    await expect(waiting).rejects.toBe('stop')
    await expect(abortable(Promise.reject('unobserved'), controller.signal)).rejects.toBe('stop')
  })
})
