import { VirtualClock } from '@kubewright/base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PriorityQueue } from './priority-queue.ts'
import type { Queue } from './queue.ts'
import { WorkQueue } from './work-queue.ts'

const makers: readonly [string, (clock: VirtualClock) => Queue][] = [
  ['WorkQueue', (clock) => new WorkQueue({ clock })],
  ['PriorityQueue', (clock) => new PriorityQueue({ clock })],
]

describe.each(makers)('%s', (_name, make) => {
  const setUp = () => {
    const clock = new VirtualClock()
    return { clock, queue: make(clock) }
  }
  const keysOf = (queue: Queue): string[] => {
    const keys: string[] = []
    for (let taken = queue.tryGet(); taken !== undefined; taken = queue.tryGet()) {
      keys.push(taken.key)
      queue.done(taken.key)
    }
    return keys
  }

  test('add() coalesces a key that is waiting to be taken', () => {
    const { queue } = setUp()
    for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key)
    expect(queue.length).toBe(3)
    expect(keysOf(queue)).toEqual(['a', 'b', 'c'])
  })

  test('add() of a key in process makes it ready once, after done()', () => {
    const { queue } = setUp()
    queue.add('a')
    expect(queue.tryGet()?.key).toBe('a')
    queue.add('a')
    queue.add('a')
    expect(queue.tryGet()).toBeUndefined()
    queue.done('a')
    expect(keysOf(queue)).toEqual(['a'])
  })

  test('done() ignores a key that no worker holds', () => {
    const { queue } = setUp()
    queue.add('a')
    queue.done('a')
    expect(keysOf(queue)).toEqual(['a'])
  })

  test('get() serves waiting workers in order of arrival', async () => {
    const { queue } = setUp()
    const first = queue.get()
    const second = queue.get()
    queue.add('a')
    queue.add('b')
    expect([(await first)?.key, (await second)?.key]).toEqual(['a', 'b'])
  })

  test('get() rejects when its signal aborts and loses no key', async () => {
    const { queue } = setUp()
    const controller = new AbortController()
    const waiting = queue.get({ signal: controller.signal })
    controller.abort(new Error('stop'))
    await expect(waiting).rejects.toThrow('stop')
    queue.add('a')
    expect(keysOf(queue)).toEqual(['a'])
  })

  test('addAfter() keeps the earlier of two times', async () => {
    const { clock, queue } = setUp()
    queue.addAfter('a', 100)
    queue.addAfter('a', 50)
    queue.addAfter('a', 500)
    await clock.advance(49)
    expect(queue.length).toBe(0)
    await clock.advance(1)
    expect(keysOf(queue)).toEqual(['a'])
    await clock.advance(1000)
    expect(keysOf(queue)).toEqual([])
    expect(clock.pending).toEqual([])
  })

  test.each([0, -1])('addAfter(%d) makes the key ready at once', (delay) => {
    const { queue } = setUp()
    queue.addAfter('a', delay)
    expect(keysOf(queue)).toEqual(['a'])
  })

  test('addRateLimited() doubles the wait until forget()', async () => {
    const { clock, queue } = setUp()
    const waits: number[] = []
    for (let i = 0; i < 4; i++) {
      queue.addRateLimited('a')
      const start = clock.monotonic()
      await clock.advanceToNext()
      waits.push(clock.monotonic() - start)
      expect(keysOf(queue)).toEqual(['a'])
    }
    expect(waits).toEqual([5, 10, 20, 40])
    expect(queue.numRequeues('a')).toBe(4)
    queue.forget('a')
    expect(queue.numRequeues('a')).toBe(0)
    queue.addRateLimited('a')
    expect(clock.pending[0]?.delay).toBe(5)
  })

  test('shutDown() with drain processes ready keys, and drops and reports delayed ones', async () => {
    const { queue } = setUp()
    queue.add('a')
    queue.add('b')
    queue.addAfter('later', '1h')
    const held = queue.tryGet()
    queue.add('a')
    const stopping = queue.shutDown({ pending: 'drain' })
    queue.add('ignored')
    expect(queue.shuttingDown).toBe(true)
    queue.done(held?.key ?? '')
    expect((await queue.get())?.key).toBe('b')
    expect((await queue.get())?.key).toBe('a')
    queue.done('b')
    queue.done('a')
    expect(await queue.get()).toBeUndefined()
    expect(await stopping).toEqual({ dropped: ['later'], finished: 3 })
  })

  test('shutDown() with drop reports the dropped keys and waits for the keys in process', async () => {
    const { queue } = setUp()
    queue.add('a')
    queue.tryGet()
    queue.add('b')
    let stopped = false
    const stopping = queue.shutDown({ pending: 'drop' }).then((report) => {
      stopped = true
      return report
    })
    expect(queue.tryGet()).toBeUndefined()
    await Promise.resolve()
    expect(stopped).toBe(false)
    queue.done('a')
    expect(await stopping).toEqual({ dropped: ['b'], finished: 1 })
  })

  test('shutDown() resolves waiting workers with undefined', async () => {
    const { queue } = setUp()
    const waiting = queue.get()
    await queue.shutDown()
    expect(await waiting).toBeUndefined()
  })

  test('addAfter() accepts delays below the precision of the clock', async () => {
    const { clock, queue } = setUp()
    await clock.advance(0.7)
    queue.addAfter('a', 5.000_300_1)
    await clock.advance(6)
    expect(keysOf(queue)).toEqual(['a'])
  })

  test('onReady() reports ready keys that no worker waits for, including delayed ones and keys that were in process', async () => {
    const { clock, queue } = setUp()
    let calls = 0
    queue.onReady(() => calls++)
    queue.add('a')
    expect(calls).toBe(1)
    queue.tryGet()
    queue.add('a')
    queue.addAfter('b', 10)
    expect(calls).toBe(1)
    queue.done('a')
    expect(calls).toBe(2)
    await clock.advance(10)
    expect(calls).toBe(3)
    keysOf(queue)
    const waiting = queue.get()
    queue.add('c')
    expect((await waiting)?.key).toBe('c')
    queue.onReady(undefined)
    queue.add('d')
    expect(calls).toBe(3)
  })

  test('tryGet() reports how long the key was ready', async () => {
    const { clock, queue } = setUp()
    queue.addAfter('a', 10)
    await clock.advance(25)
    expect(queue.tryGet()).toMatchObject({ key: 'a', waited: 15 })
  })

  test('tryGet() does not evaluate the paths of causes before they are read', () => {
    const { queue } = setUp()
    let compared = 0
    const update = (path: string) => ({
      event: 'update' as const,
      kind: 'v1 Pod',
      object: 'ns/p',
      get paths() {
        compared++
        return [path]
      },
    })
    for (const path of ['spec.a', 'spec.b', 'spec.a']) queue.add('k', { cause: update(path) })
    const taken = queue.tryGet()
    expect(compared).toBe(0)
    const expected = [{ event: 'update', kind: 'v1 Pod', object: 'ns/p', paths: ['spec.a', 'spec.b'], count: 3 }]
    expect(taken?.causes).toEqual(expected)
    expect(JSON.parse(JSON.stringify(taken?.causes))).toEqual(expected)
    expect(compared).toBe(3)
  })

  test('tryGet() returns the merged causes of a key', () => {
    const { queue } = setUp()
    queue.add('a', { cause: { event: 'update', kind: 'v1 Pod', object: 'ns/p', paths: ['spec.x'] } })
    queue.addAfter('a', 10, { cause: { event: 'requeue' } })
    queue.add('a', { cause: { event: 'update', kind: 'v1 Pod', object: 'ns/p', paths: ['spec.x', 'spec.y'] } })
    expect(queue.tryGet()?.causes).toEqual([
      { event: 'update', kind: 'v1 Pod', object: 'ns/p', paths: ['spec.x', 'spec.y'], count: 2 },
    ])
    queue.add('a')
    queue.done('a')
    expect(queue.tryGet()?.causes).toEqual([])
  })

  test('tryGet() returns a requeue as a cause only when it was due', async () => {
    const { clock, queue } = setUp()
    const cause = { event: 'requeue' } as const
    queue.addAfter('due', 10, { cause })
    await clock.advance(10)
    expect(queue.tryGet()?.causes).toEqual([{ ...cause, count: 1 }])
    queue.addAfter('early', 10, { cause })
    expect(queue.snapshot().waiting).toMatchObject([{ key: 'early', causes: [{ event: 'requeue' }] }])
    queue.add('early', { cause: { event: 'update' } })
    expect(queue.tryGet()?.causes).toEqual([{ event: 'update', count: 1 }])
    // A key in process that is ready again does not wait for the requeue.
    queue.add('early', { cause: { event: 'add' } })
    queue.addAfter('early', 10, { cause })
    queue.done('early')
    expect(queue.tryGet()?.causes).toEqual([{ event: 'add', count: 1 }])
  })

  test('tryGet() returns at most 32 causes', () => {
    const { queue } = setUp()
    for (let i = 0; i < 1000; i++) queue.add('a', { cause: { event: 'add', object: `ns/${i}` } })
    expect(queue.tryGet()?.causes).toHaveLength(32)
  })

  test('snapshot() shows ready, waiting and processing keys with their times', async () => {
    const { clock, queue } = setUp()
    queue.add('a')
    queue.tryGet()
    queue.addAfter('c', 100, { cause: { event: 'requeue' } })
    await clock.advance(10)
    queue.add('b')
    await clock.advance(5)
    expect(queue.snapshot()).toEqual({
      name: 'queue',
      ready: [{ key: 'b', priority: 0, causes: [], time: 5 }],
      waiting: [{ key: 'c', priority: 0, causes: [{ event: 'requeue', count: 1 }], time: 85 }],
      processing: [{ key: 'a', priority: 0, causes: [], time: 15 }],
      shuttingDown: false,
    })
  })

  test('never hands a key to two workers, and hands out every key after its last add', async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant('add' as const),
        key: fc.integer({ min: 0, max: 5 }),
        priority: fc.integer({ min: -2, max: 2 }),
      }),
      fc.record({ do: fc.constant('after' as const), key: fc.integer({ min: 0, max: 5 }), delay: fc.nat(50) }),
      fc.record({ do: fc.constant('get' as const) }),
      fc.record({ do: fc.constant('done' as const), which: fc.nat(5) }),
      fc.record({ do: fc.constant('advance' as const), time: fc.nat(30) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const { clock, queue } = setUp()
        const held: string[] = []
        // Keys that were added and not taken since.
        const owed = new Set<string>()
        const take = (): void => {
          const key = queue.tryGet()?.key
          if (key === undefined) return
          expect(held).not.toContain(key)
          held.push(key)
          owed.delete(key)
        }
        for (const action of steps) {
          if (action.do === 'add') {
            queue.add(`k${action.key}`, { priority: action.priority })
            owed.add(`k${action.key}`)
          } else if (action.do === 'after') {
            queue.addAfter(`k${action.key}`, action.delay)
            owed.add(`k${action.key}`)
          } else if (action.do === 'get') take()
          else if (action.do === 'done') for (const key of held.splice(action.which, 1)) queue.done(key)
          else await clock.advance(action.time)
        }
        await clock.advance(100)
        for (let i = 0; i < 40; i++) {
          take()
          for (const key of held.splice(0)) queue.done(key)
        }
        expect([...owed]).toEqual([])
        const { ready, waiting, processing } = queue.snapshot()
        expect([ready, waiting, processing]).toEqual([[], [], []])
      }),
      { numRuns: 150 },
    )
  })
})
