import { describe, expect, test } from 'vitest'
import { AsyncMutex, Semaphore } from './semaphore.ts'
import { VirtualClock } from './virtual-clock.ts'

describe('Semaphore', () => {
  test('run() admits at most the given number of callers, in order', async () => {
    const clock = new VirtualClock()
    const semaphore = new Semaphore(2)
    const started: number[] = []
    let running = 0
    let most = 0
    const jobs = [0, 1, 2, 3, 4].map((job) =>
      semaphore.run(async () => {
        started.push(job)
        most = Math.max(most, ++running)
        await clock.sleep(10)
        running--
      }),
    )
    await clock.advance(30)
    await Promise.all(jobs)
    expect([most, started, semaphore.available]).toEqual([2, [0, 1, 2, 3, 4], 2])
  })

  test('run() releases the permit when the function fails', async () => {
    const mutex = new AsyncMutex()
    const failing = mutex.run(() => {
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(await mutex.run(() => 'ok')).toBe('ok')
  })

  test('acquire() rejects on abort without losing a permit', async () => {
    const semaphore = new Semaphore(1)
    const permit = await semaphore.acquire()
    const controller = new AbortController()
    const waiting = semaphore.acquire({ signal: controller.signal })
    const next = semaphore.acquire()
    await Promise.resolve()
    expect(semaphore.waiting).toBe(2)
    controller.abort('stop')
    await expect(waiting).rejects.toBe('stop')
    permit[Symbol.dispose]()
    permit[Symbol.dispose]()
    expect(semaphore.available).toBe(0)
    const last = await next
    expect(semaphore.tryAcquire()).toBeUndefined()
    last[Symbol.dispose]()
    expect(semaphore.available).toBe(1)
    await expect(semaphore.acquire({ signal: controller.signal })).rejects.toBe('stop')
  })

  test.each([0, -1, 1.5])('rejects %d permits', (permits) => {
    expect(() => new Semaphore(permits)).toThrow(RangeError)
  })
})
