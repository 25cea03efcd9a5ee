import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Heap } from './heap.ts'

interface Item {
  readonly key: string
  readonly priority: number
}

const newHeap = (): Heap<Item> =>
  new Heap<Item>({ key: (item) => item.key, compare: (a, b) => a.priority - b.priority })

function drain<T, K>(heap: Heap<T, K>): T[] {
  const items: T[] = []
  while (heap.size > 0) items.push(heap.pop() as T)
  return items
}

describe('Heap', () => {
  test('pop() returns items by priority, then by insertion order', () => {
    const heap = newHeap()
    for (const [key, priority] of [
      ['a', 2],
      ['b', 1],
      ['c', 2],
      ['d', 1],
      ['e', 0],
    ] as const)
      heap.set({ key, priority })
    expect(drain(heap).map((item) => item.key)).toEqual(['e', 'b', 'd', 'a', 'c'])
    expect(heap.pop()).toBeUndefined()
    expect(heap.peek()).toBeUndefined()
  })

  test('set() replaces the item with the same key and keeps its rank among equals', () => {
    const heap = newHeap()
    heap.set({ key: 'a', priority: 1 })
    heap.set({ key: 'b', priority: 1 })
    heap.set({ key: 'a', priority: 5 })
    expect(heap.peek()?.key).toBe('b')
    heap.set({ key: 'a', priority: 1 })
    expect(drain(heap).map((item) => item.key)).toEqual(['a', 'b'])
  })

  test('addIfAbsent() does not replace an existing item', () => {
    const heap = newHeap()
    expect(heap.addIfAbsent({ key: 'a', priority: 1 })).toBe(true)
    expect(heap.addIfAbsent({ key: 'a', priority: 9 })).toBe(false)
    expect(heap.get('a')?.priority).toBe(1)
  })

  test('delete() and clear() remove items', () => {
    const heap = newHeap()
    heap.set({ key: 'a', priority: 1 })
    heap.set({ key: 'b', priority: 2 })
    expect(heap.delete('a')?.priority).toBe(1)
    expect(heap.delete('a')).toBeUndefined()
    expect(heap.has('a')).toBe(false)
    heap.clear()
    expect([heap.size, heap.has('b')]).toEqual([0, false])
  })

  test('behaves like a stably sorted list under any sequence of operations', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
    const operation = fc.oneof(
      { weight: 4, arbitrary: fc.record({ op: fc.constant('set' as const), key, priority: fc.nat(4) }) },
      { weight: 2, arbitrary: fc.record({ op: fc.constant('delete' as const), key }) },
      { weight: 1, arbitrary: fc.record({ op: fc.constant('pop' as const) }) },
    )
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 80 }), (operations) => {
        const heap = newHeap()
        // The model: a Map keeps insertion order, and sorting is stable.
        const model = new Map<string, Item>()
        const ordered = (): Item[] => [...model.values()].sort((a, b) => a.priority - b.priority)
        for (const operation of operations) {
          if (operation.op === 'set') {
            const item = { key: operation.key, priority: operation.priority }
            heap.set(item)
            model.set(item.key, item)
          } else if (operation.op === 'delete') {
            expect(heap.delete(operation.key)).toBe(model.get(operation.key))
            model.delete(operation.key)
          } else {
            const first = ordered()[0]
            expect(heap.pop()).toBe(first)
            if (first !== undefined) model.delete(first.key)
          }
          expect(heap.size).toBe(model.size)
          expect(heap.peek()).toBe(ordered()[0])
          expect(heap.sorted()).toEqual(ordered())
          expect(new Set(heap)).toEqual(new Set(model.values()))
        }
        const expected = ordered()
        expect(drain(heap)).toEqual(expected)
      }),
    )
  })
})
