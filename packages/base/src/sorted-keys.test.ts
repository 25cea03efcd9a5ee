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
