import { type MetricLabels, type MetricSink, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { lowPriority, PriorityQueue } from './priority-queue.ts'

const drain = (queue: PriorityQueue): string[] => {
  const keys: string[] = []
  for (let taken = queue.tryGet(); taken !== undefined; taken = queue.tryGet())
    keys.push(`${taken.key}@${taken.priority}`)
  return keys
}

describe('PriorityQueue.add()', () => {
  test('takes higher priorities first and equal ones in order of arrival', () => {
    const queue = new PriorityQueue({ clock: new VirtualClock() })
    queue.add('low', { priority: lowPriority })
    queue.add('a')
    queue.add('high', { priority: 5 })
    queue.add('b')
    expect(drain(queue)).toEqual(['high@5', 'a@0', 'b@0', 'low@-100'])
  })

  test('keeps the highest priority; a key whose priority rises goes to the end of its new line', () => {
    const queue = new PriorityQueue({ clock: new VirtualClock() })
    queue.add('a', { priority: lowPriority })
    queue.add('b')
    queue.add('a')
    queue.add('b', { priority: lowPriority })
    expect(drain(queue)).toEqual(['b@0', 'a@0'])
  })

  test('cancels a pending delay and keeps its priority', async () => {
    const clock = new VirtualClock()
    const queue = new PriorityQueue({ clock })
    queue.addAfter('a', 1000, { priority: 7 })
    queue.add('a')
    expect(drain(queue)).toEqual(['a@7'])
    queue.done('a')
    await clock.advance(2000)
    expect(drain(queue)).toEqual([])
  })

  test('keeps the position of a key that is in process, without handing it out', () => {
    const queue = new PriorityQueue({ clock: new VirtualClock() })
    queue.add('a')
    queue.tryGet()
    queue.add('a')
    queue.add('b')
    expect(queue.length).toBe(1)
    queue.done('a')
    expect(drain(queue)).toEqual(['a@0', 'b@0'])
  })
})

test('PriorityQueue.addAfter() of a ready key does not delay it, and raises its priority', () => {
  const queue = new PriorityQueue({ clock: new VirtualClock() })
  queue.add('a')
  queue.addAfter('a', 1000, { priority: 3 })
  expect(drain(queue)).toEqual(['a@3'])
})

test('PriorityQueue.addAfter() orders a key by the time it becomes ready', async () => {
  const clock = new VirtualClock()
  const queue = new PriorityQueue({ clock })
  queue.addAfter('late', 10)
  queue.add('early')
  await clock.advance(10)
  expect(drain(queue)).toEqual(['early@0', 'late@0'])
})

test('PriorityQueue gives every second turn to keys that have waited for maxWait', async () => {
  const clock = new VirtualClock()
  const queue = new PriorityQueue({ clock, maxWait: 100 })
  for (const key of ['old1', 'old2', 'old3']) queue.add(key, { priority: lowPriority })
  await clock.advance(99)
  for (const key of ['n1', 'n2', 'n3', 'n4']) queue.add(key)
  expect(queue.tryGet()?.key).toBe('n1')
  await clock.advance(1)
  expect(drain(queue).map((text) => text.split('@')[0])).toEqual(['old1', 'n2', 'old2', 'n3', 'old3', 'n4'])
})

test('PriorityQueue.tryGet() reaches every low-priority key under constant high-priority load', async () => {
  const clock = new VirtualClock()
  const queue = new PriorityQueue({ clock, maxWait: '1s' })
  for (let i = 0; i < 20; i++) queue.add(`low${i}`, { priority: lowPriority })
  const seen = new Set<string>()
  for (let i = 0; i < 200; i++) {
    queue.add(`urgent${i}`, { priority: 1000 })
    queue.add(`urgent${i}b`, { priority: 1000 })
    await clock.advance(100)
    const key = queue.tryGet()?.key ?? ''
    seen.add(key)
    queue.done(key)
  }
  for (let i = 0; i < 20; i++) expect(seen).toContain(`low${i}`)
})

test('PriorityQueue with an infinite maxWait uses strict priorities', async () => {
  const clock = new VirtualClock()
  const queue = new PriorityQueue({ clock, maxWait: Number.POSITIVE_INFINITY })
  queue.add('low', { priority: lowPriority })
  await clock.advance('24h')
  queue.add('a')
  expect(drain(queue)).toEqual(['a@0', 'low@-100'])
})

test('PriorityQueue.shutDown() drops and reports ready keys by default', async () => {
  const queue = new PriorityQueue({ clock: new VirtualClock() })
  queue.add('a')
  queue.addAfter('b', 10)
  expect(await queue.shutDown()).toEqual({ dropped: ['a', 'b'], finished: 0 })
})

test('PriorityQueue reports its depth by priority, with a bounded number of label values', () => {
  const depths = new Map<string, number>()
  const set = (_name: string, labels: MetricLabels, value: number): void =>
    void depths.set(labels.priority ?? '', value)
  const metrics: MetricSink = { add() {}, observe() {}, set }
  const queue = new PriorityQueue({ clock: new VirtualClock(), metrics })
  queue.add('a', { priority: 1 })
  queue.add('b', { priority: 1 })
  queue.add('a', { priority: 2 })
  expect([...depths]).toEqual([
    ['1', 1],
    ['2', 1],
  ])
  for (let i = 0; i < 100; i++) queue.add(`x${i}`, { priority: 10 + i })
  expect(depths.size).toBe(26)
  expect(depths.get('exceeded_cardinality_limit')).toBe(77)
})
