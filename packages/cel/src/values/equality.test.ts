import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { celCompare, celEquals } from './equality.ts'
import { fromNative } from './json-values.ts'
import { toNative } from './native.ts'
import { CelBytes, CelDouble, CelDuration, CelTimestamp, CelUint, type CelValue } from './values.ts'

describe('celEquals()', () => {
  const nan = new CelDouble(Number.NaN)
  test.each<[CelValue, CelValue, boolean]>([
    [1, new CelDouble(1), true],
    [new CelUint(1n), 1, true],
    [2n ** 62n, new CelDouble(2 ** 62), true],
    [2n ** 62n + 1n, new CelDouble(2 ** 62), false],
    [nan, nan, false],
    [0, false, false],
    [0, '', false],
    [null, null, true],
    [new CelTimestamp(1, 0, 3600), new CelTimestamp(1, 0), true],
    [new CelDuration(1n), new CelDuration(1n), true],
    [new CelBytes(new Uint8Array([1])), new CelBytes(new Uint8Array([1])), true],
  ])('%o, %o: %s', (a, b, equal) => {
    expect(celEquals(a, b)).toBe(equal)
    expect(celEquals(b, a)).toBe(equal)
  })

  test('is true for equal JSON in any key order', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const reordered = JSON.parse(JSON.stringify(value), (_key, v: unknown) =>
          typeof v === 'object' && v !== null && !Array.isArray(v)
            ? Object.fromEntries(Object.entries(v).reverse())
            : v,
        ) as unknown
        expect(celEquals(fromNative(JSON.parse(JSON.stringify(value))), fromNative(reordered))).toBe(true)
      }),
    )
  })
})

describe('celCompare()', () => {
  test('orders strings by their UTF-8 bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        expect(Math.sign(celCompare(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
      }),
    )
  })

  test('orders numbers by value across numeric types', () => {
    expect(celCompare(1, new CelDouble(1.5))).toBeLessThan(0)
    expect(celCompare(new CelUint(2n ** 63n), 2n ** 62n)).toBeGreaterThan(0)
    expect(() => celCompare(1, new CelDouble(Number.NaN))).toThrow('NaN values cannot be ordered')
    expect(() => celCompare(1, 'a')).toThrow('no such overload')
  })
})

test('toNative() reverses fromNative()', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      // Whole numbers beyond 2^53 come back as bigints.
      const isLarge = (v: unknown): boolean => Number.isInteger(v) && !Number.isSafeInteger(v)
      const json = JSON.parse(JSON.stringify(value), (_key, v: unknown) => (isLarge(v) ? 0.5 : v)) as unknown
      expect(toNative(fromNative(json))).toEqual(json)
    }),
  )
  expect(toNative(fromNative(2 ** 60))).toBe(2n ** 60n)
  expect(() => fromNative(() => 1)).toThrow('Cannot use a function as a CEL value')
})
