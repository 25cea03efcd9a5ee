import { expect, test } from 'vitest'
import { largest, smallest } from './extremes.ts'

test('smallest() and largest() take any number of values', () => {
  const many = Array.from({ length: 1_000_000 }, (_, index) => index - 7)
  expect([smallest(many), largest(many)]).toEqual([-7, 999_992])
  expect([smallest([]), largest([])]).toEqual([Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
})
