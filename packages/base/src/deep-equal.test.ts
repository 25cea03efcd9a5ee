import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepCopy } from './deep-copy.ts'
import { deepEqual } from './deep-equal.ts'

describe('deepEqual()', () => {
  test.each<[a: unknown, b: unknown]>([
    [1, 1],
    [0, -0],
    [Number.NaN, Number.NaN],
    [null, null],
    [undefined, undefined],
    ['', ''],
    [7n, 7n],
    [7n, 7],
    [7, 7n],
    [[], []],
    [{}, {}],
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [{ a: undefined }, {}],
    [{}, { a: undefined }],
    [
      { a: undefined, b: 1 },
      { b: 1, c: undefined },
    ],
    [JSON.parse('{"__proto__":{"x":1}}'), JSON.parse('{"__proto__":{"x":1}}')],
    [Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  ])('finds %o and %o equal', (a, b) => {
    expect(deepEqual(a, b)).toBe(true)
    expect(deepEqual(b, a)).toBe(true)
  })

  test.each<[a: unknown, b: unknown]>([
    [1, 2],
    [1, '1'],
    [1, true],
    [0, null],
    [null, undefined],
    [null, {}],
    [7n, 8],
    [7n, 7.5],
    [9_007_199_254_740_993n, 9_007_199_254_740_992],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 2]],
    [[undefined], []],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: undefined, b: 1 }, { a: 1 }],
    [{ constructor: 1 }, {}],
    [JSON.parse('{"__proto__":{}}'), {}],
    [JSON.parse('{"__proto__":{}}'), { a: 1 }],
  ])('finds %o and %o different', (a, b) => {
    expect(deepEqual(a, b)).toBe(false)
    expect(deepEqual(b, a)).toBe(false)
  })

  test('agrees with the comparison of canonical JSON text', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(deepEqual(a, b)).toBe(canonical(a) === canonical(b))
        expect(deepEqual(a, JSON.parse(JSON.stringify(a)))).toBe(true)
        expect(deepEqual(deepCopy(a), a)).toBe(true)
      }),
    )
  })
})

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`).join()}}`
}
