import fc from 'fast-check'
import { expect, test } from 'vitest'
import { SortedKeys } from './sorted-keys.ts'

test('SortedKeys.rank() counts the smaller keys', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 2000 }),
      fc.string({ maxLength: 4 }),
      (all, key) => {
        const keys = new SortedKeys()
        for (const each of all) keys.add(each)
        expect(keys.rank(key)).toBe(all.filter((each) => each < key).length)
      },
    ),
    { numRuns: 30 },
  )
})

test('SortedKeys.rank() is 0 in an empty set', () => {
  expect(new SortedKeys().rank('x')).toBe(0)
})

test('SortedKeys.from() is the set that additions create', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ maxLength: 4 }), { maxLength: 2000 }),
      fc.array(fc.string({ maxLength: 4 }), { maxLength: 50 }),
      (all, later) => {
        const keys = SortedKeys.from([...all].sort())
        const expected = new SortedKeys()
        for (const each of all) expected.add(each)
        for (const each of later) {
          keys.add(each)
          expected.add(each)
        }
        const found: string[] = []
        keys.scan('', (key) => found.push(key) > 0)
        expect(found).toEqual([...new Set([...all, ...later])].sort())
        expect(keys.size).toBe(expected.size)
      },
    ),
    { numRuns: 30 },
  )
})
