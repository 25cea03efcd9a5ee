import { expect, test } from 'vitest'
import { omitUndefined } from './omit-undefined.ts'

test('omitUndefined() leaves out undefined members only', () => {
  const value = { a: undefined, b: null, c: 0, d: '', e: [] }
  expect(Object.keys(omitUndefined(value))).toEqual(['b', 'c', 'd', 'e'])
  expect(value).toHaveProperty('a')
})
