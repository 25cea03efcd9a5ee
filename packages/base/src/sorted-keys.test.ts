import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SortedKeys } from './sorted-keys.ts'

/** The keys from `start` on, at most `limit` of them. */
function keysFrom(keys: SortedKeys, start = '', limit = Number.POSITIVE_INFINITY): string[] {
  const seen: string[] = []
  keys.scan(start, (key) => {
    if (seen.length >= limit) return false
    seen.push(key)
    return true
  })
  return seen
}

const keysOf = (...names: readonly string[]): SortedKeys => {
  const keys = new SortedKeys()
  for (const name of names) keys.add(name)
  return keys
}

test('SortedKeys agrees with a sorted set of strings after any additions and removals', () => {
  const key = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 4 }),
    fc.string({ unit: 'binary', maxLength: 2 }),
  )
  const step = fc.record({ add: fc.boolean(), key })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), key, (steps, start) => {
      const keys = new SortedKeys()
      const model = new Set<string>()
      for (const { add, key } of steps) {
        if (add) {
          keys.add(key)
          model.add(key)
        } else {
          keys.delete(key)
          model.delete(key)
        }
        expect(keys.size).toBe(model.size)
      }
      const sorted = [...model].sort()
      expect(keysFrom(keys)).toEqual(sorted)
      expect(keysFrom(keys, start)).toEqual(sorted.filter((k) => k >= start))
    }),
  )
})

test('SortedKeys keeps order over many blocks, filled forwards, backwards and mixed, and emptied again', () => {
  const count = 5000
  const name = (i: number): string => String(i).padStart(5, '0')
  const sorted = Array.from({ length: count }, (_, i) => name(i))
  const orders = {
    forwards: (i: number) => i,
    backwards: (i: number) => count - 1 - i,
    // 1237 and the count have no common factor, so that every number comes once.
    mixed: (i: number) => (i * 1237) % count,
  }
  for (const order of Object.values(orders)) {
    const keys = new SortedKeys()
    for (let i = 0; i < count; i++) keys.add(name(order(i)))
    expect(keys.size).toBe(count)
    expect(keysFrom(keys)).toEqual(sorted)
    expect(keysFrom(keys, name(2511), 3)).toEqual([name(2511), name(2512), name(2513)])
    expect(keysFrom(keys, `${name(4998)}x`)).toEqual([name(4999)])
    for (let i = 0; i < count; i += 2) keys.delete(name(order(i)))
    const left = Array.from({ length: count / 2 }, (_, i) => name(order(2 * i + 1))).sort()
    expect(keysFrom(keys)).toEqual(left)
    for (const key of left) keys.delete(key)
    expect([keys.size, keysFrom(keys)]).toEqual([0, []])
    keys.add('again')
    expect(keysFrom(keys)).toEqual(['again'])
  }
})

test('SortedKeys.add() of a key that is there and delete() of one that is not change nothing', () => {
  const keys = keysOf('b', 'a', 'b')
  keys.delete('c')
  new SortedKeys().delete('c')
  expect([keys.size, keysFrom(keys)]).toEqual([2, ['a', 'b']])
})

test('SortedKeys.scan() stops when the visitor has seen enough', () => {
  const visited: string[] = []
  keysOf('a', 'b', 'c').scan('', (key) => {
    visited.push(key)
    return key !== 'b'
  })
  expect(visited).toEqual(['a', 'b'])
})

test('SortedKeys.clone() is independent of the original', () => {
  const keys = keysOf('a', 'b')
  const copy = keys.clone()
  keys.delete('a')
  copy.add('c')
  expect(keysFrom(keys)).toEqual(['b'])
  expect([copy.size, keysFrom(copy)]).toEqual([3, ['a', 'b', 'c']])
})
