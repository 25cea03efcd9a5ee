import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AsyncQueue } from './async-queue.ts'
import { drainMicrotasks } from './system-clock.ts'

describe('AsyncQueue', () => {
  test('take() returns items in order and serves consumers in order', async () => {
    const queue = new AsyncQueue<number>()
    const early = [queue.take(), queue.take()]
    for (const item of [1, 2, 3]) expect(queue.push(item)).toBe(true)
    expect(await Promise.all(early)).toEqual([1, 2])
    expect(queue.size).toBe(1)
    expect(await queue.take()).toBe(3)
    expect(queue.tryTake()).toBeUndefined()
  })

  test('iteration yields the remaining items after close(), then ends', async () => {
    const queue = new AsyncQueue<number | undefined>()
    queue.push(1)
    queue.push(undefined)
    queue.close()
    queue.close()
    const items: (number | undefined)[] = []
    for await (const item of queue) items.push(item)
    expect(items).toEqual([1, undefined])
    expect(queue.closed).toBe(true)
  })

  test('a waiting iteration ends on close()', async () => {
    const queue = new AsyncQueue<number>()
    const collecting = (async () => {
      const items: number[] = []
      for await (const item of queue) items.push(item)
      return items
    })()
    queue.push(1)
    await drainMicrotasks()
    queue[Symbol.dispose]()
    expect(await collecting).toEqual([1])
  })

  test('leaving an iteration early does not close the queue', async () => {
    const queue = new AsyncQueue<number>()
    queue.push(1)
    queue.push(2)
    for await (const item of queue) {
      expect(item).toBe(1)
      break
    }
    expect(queue.closed).toBe(false)
    expect(await queue.take()).toBe(2)
  })

  test('fail() reaches consumers after the buffered items', async () => {
    const failure = new Error('watch lost')
    const queue = new AsyncQueue<number>()
    queue.push(1)
    queue.fail(failure)
    queue.close()
    expect(await queue.take()).toBe(1)
    await expect(queue.take()).rejects.toBe(failure)
    await expect(queue[Symbol.asyncIterator]().next()).rejects.toBe(failure)
  })

  test('fail() rejects waiting consumers', async () => {
    const queue = new AsyncQueue<number>()
    const waiting = queue.take()
    queue.fail('gone')
    await expect(waiting).rejects.toBe('gone')
  })

  test('push(), put() and take() fail on a closed queue', async () => {
    const queue = new AsyncQueue<number>()
    const waiting = queue.take()
    queue.close()
    const closed = { code: 'KW_QUEUE_CLOSED' }
    expect(() => queue.push(1)).toThrow('Cannot add to queue: it is closed')
    await expect(queue.put(1)).rejects.toMatchObject(closed)
    await expect(waiting).rejects.toMatchObject({ ...closed, message: 'Cannot take from queue: it is closed' })
    await expect(queue.take()).rejects.toMatchObject(closed)
  })

  test('take() rejects on abort and leaves the item to the next consumer', async () => {
    const queue = new AsyncQueue<number>()
    const controller = new AbortController()
    const aborted = queue.take({ signal: controller.signal })
    const other = queue.take()
    controller.abort('stop')
    queue.push(1)
    await expect(aborted).rejects.toBe('stop')
    expect(await other).toBe(1)
    await expect(queue.take({ signal: controller.signal })).rejects.toBe('stop')
  })

  test('push() returns false and put() waits when the queue is full', async () => {
    const queue = new AsyncQueue<number>({ capacity: 1 })
    expect(queue.push(1)).toBe(true)
    expect(queue.push(2)).toBe(false)
    const second = queue.put(2)
    const third = queue.put(3)
    expect(await queue.take()).toBe(1)
    await second
    expect(queue.push(9)).toBe(false)
    expect([await queue.take(), await queue.take()]).toEqual([2, 3])
    await third
  })

  test('put() rejects on abort and on close()', async () => {
    const queue = new AsyncQueue<number>({ capacity: 1 })
    queue.push(1)
    const controller = new AbortController()
    const aborted = queue.put(2, { signal: controller.signal })
    const closed = queue.put(3)
    controller.abort('stop')
    await expect(aborted).rejects.toBe('stop')
    queue.close()
    await expect(closed).rejects.toMatchObject({ code: 'KW_QUEUE_CLOSED' })
    expect([await queue.take(), queue.size]).toEqual([1, 0])
  })

  test('rejects a capacity below 1', () => {
    expect(() => new AsyncQueue({ capacity: 0 })).toThrow(RangeError)
  })

  test('delivers every item once and in order for any interleaving and capacity', async () => {
    const step = fc.constantFrom('put', 'take', 'settle')
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 3 }), async (steps, capacity) => {
        const queue = new AsyncQueue<number>({ capacity })
        const puts: Promise<void>[] = []
        const takes: Promise<number>[] = []
        for (const step of steps) {
          if (step === 'put') puts.push(queue.put(puts.length))
          else if (step === 'take') takes.push(queue.take())
          else await drainMicrotasks()
          expect(queue.size).toBeLessThanOrEqual(capacity)
        }
        while (takes.length < puts.length) takes.push(queue.take())
        while (puts.length < takes.length) puts.push(queue.put(puts.length))
        await Promise.all(puts)
        expect(await Promise.all(takes)).toEqual(puts.map((_, i) => i))
      }),
    )
  })

  test('keeps the order of many thousands of items', async () => {
    const queue = new AsyncQueue<number>()
    let expected = 0
    for (let i = 0; i < 20_000; i++) {
      queue.push(i)
      if (i % 3 === 0) expect(queue.tryTake()).toBe(expected++)
    }
    queue.close()
    for await (const item of queue) expect(item).toBe(expected++)
    expect(expected).toBe(20_000)
  })
})
