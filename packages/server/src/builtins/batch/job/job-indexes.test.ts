import { describe, expect, test } from 'vitest'
import { commonIndex, countIndexes } from './job-indexes.ts'

describe('countIndexes()', () => {
  test.each<[string, number | string]>([
    ['', 0],
    ['0,2-4', 4],
    ['1-1', 'non-increasing order, previous: 1, current: 1'],
    ['3,1', 'non-increasing order, previous: 3, current: 1'],
    ['10', 'too large index: "10"'],
    ['x', 'cannot convert string to integer for index: "x"'],
    [
      '1-2-3',
      'the fragment "1-2-3" violates the requirement that an index interval can have at most two parts separated by \'-\'',
    ],
  ])('of %j returns %j', (text, expected) => {
    expect(countIndexes(text, 10)).toBe(expected)
  })
})

describe('commonIndex()', () => {
  test.each<[string, string, number | undefined]>([
    ['', '1', undefined],
    ['0-3,7', '4-6', undefined],
    ['0-3,7', '5-8', 7],
    ['x,2', '2', 2],
  ])('of %j and %j returns %j', (completed, failed, index) => {
    expect(commonIndex(completed, failed, 10)).toBe(index)
  })
})
