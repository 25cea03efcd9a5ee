import { describe, expect, test } from 'vitest'
import * as api from './index.ts'

describe('scaledValue()', () => {
  test.each<[number | string, number, boolean, number]>([
    [3, 100, true, 3],
    ['25%', 10, true, 3],
    ['25%', 10, false, 2],
    ['-1%', 100, true, -1],
    ['0%', 7, true, 0],
  ])('%j of %d', (value, total, roundUp, expected) => {
    expect(api.scaledValue(value, total, roundUp)).toBe(expected)
  })

  test.each([
    ['5', 'invalid value for IntOrString: invalid type: string is not a percentage'],
    ['x%', 'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax'],
    [undefined, 'nil value for IntOrString'],
  ])('refuses %j', (value, message) => {
    expect(() => api.scaledValue(value, 1, true)).toThrow(message)
  })

  test('parseIntOrString() keeps and intValue() zeroes text that is not an integer', () => {
    expect(['80', 'http', '2147483648', '-1'].map(api.parseIntOrString)).toEqual([80, 'http', '2147483648', -1])
    expect([5, '6', 'x'].map(api.intValue)).toEqual([5, 6, 0])
  })
})
