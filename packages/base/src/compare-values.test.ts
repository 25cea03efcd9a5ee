import { expect, test } from 'vitest'
import { compareValues } from './compare-values.ts'

test('compareValues() orders texts and numbers', () => {
  expect(['b', 'a', 'B'].sort(compareValues)).toEqual(['B', 'a', 'b'])
  expect([10n, 9n].sort(compareValues)).toEqual([9n, 10n])
  expect(compareValues(2, 2)).toBe(0)
})
