import { expect, test } from 'vitest'
import { asJsonObject, asList, isJsonObject, textOf, textsOf } from './json-object.ts'

test('isJsonObject() accepts objects only', () => {
  expect([{}, { a: 1 }].every(isJsonObject)).toBe(true)
  expect([null, undefined, [], 'a', 1, true].some(isJsonObject)).toBe(false)
})

test('textOf() returns strings, and the empty string for everything else', () => {
  expect(['a', '', null, undefined, 1, {}].map(textOf)).toEqual(['a', '', '', '', '', ''])
})

test('textsOf(), asList() and asJsonObject() return empty values for everything else', () => {
  expect([textsOf(['a', 1, 'b']), textsOf('a')]).toEqual([['a', 'b'], []])
  expect([asList([1]), asList({})]).toEqual([[1], []])
  expect([asJsonObject({ a: 1 }), asJsonObject([])]).toEqual([{ a: 1 }, {}])
})
