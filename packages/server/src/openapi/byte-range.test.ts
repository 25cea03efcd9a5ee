import { describe, expect, test } from 'vitest'
import { parseByteRange } from './byte-range.ts'

describe('parseByteRange()', () => {
  test.each([
    ['', undefined],
    ['bytes=0-4', { start: 0, length: 5 }],
    ['bytes=5-', { start: 5, length: 5 }],
    ['bytes=-3', { start: 7, length: 3 }],
    ['bytes=-30', { start: 0, length: 10 }],
    ['bytes=8-99', { start: 8, length: 2 }],
    ['bytes=0-1,99-', { start: 0, length: 2 }],
    ['bytes=0-1, 3-4', undefined],
  ])('reads %j', (header, expected) => {
    expect(parseByteRange(header, 10)).toEqual(expected)
  })

  test.each([
    ['lines=0-1', 'invalid range'],
    ['bytes=5-2', 'invalid range'],
    ['bytes=a-b', 'invalid range'],
    ['bytes=-', 'invalid range'],
    ['bytes=10-', 'invalid range: failed to overlap'],
  ])('refuses %j', (header, message) => {
    expect(() => parseByteRange(header, 10)).toThrow(message)
  })
})
