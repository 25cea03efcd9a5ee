import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { endOfJsonString, endOfJsonValue, scanJson } from './json-bytes.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('scanJson()', () => {
  test.each([
    ['{"a":[{"b:":1},{"b\\":":2}]}', { members: 3, depth: 3, hasFloats: false, isPlain: true }],
    ['[1.5,"1e3"]', { members: 0, depth: 1, hasFloats: true, isPlain: true }],
    ['1E3', { members: 0, depth: 0, hasFloats: true, isPlain: false }],
    ['[true,false,-1]', { members: 0, depth: 1, hasFloats: false, isPlain: true }],
    ['-0', { members: 0, depth: 0, hasFloats: false, isPlain: false }],
    ['1234567890123456', { members: 0, depth: 0, hasFloats: false, isPlain: false }],
    ['"\\ud83d"', { members: 0, depth: 0, hasFloats: false, isPlain: false }],
  ])('%s', (text, facts) => {
    expect(scanJson(bytesOf(text))).toEqual(facts)
  })

  test('ignores the bytes after the length', () => {
    expect(scanJson(bytesOf('{"a":1}{"b":2}'), 7).members).toBe(1)
  })
})

test('endOfJsonValue() finds the end of every value, and reports truncated ones', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const bytes = bytesOf(` ${JSON.stringify(value)},`)
      expect(endOfJsonValue(bytes, 1, bytes.length)).toBe(bytes.length - 1)
      if (typeof value === 'object' && value !== null) expect(endOfJsonValue(bytes, 1, bytes.length - 2)).toBe(-1)
    }),
  )
})

test('endOfJsonString() skips escapes', () => {
  const bytes = bytesOf('"a\\"\\\\"b"')
  expect(endOfJsonString(bytes, 0, bytes.length)).toBe(7)
  expect(endOfJsonString(bytes, 0, 6)).toBe(-1)
})
