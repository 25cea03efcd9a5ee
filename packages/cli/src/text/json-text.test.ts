import { expect, test } from 'vitest'
import { jsonText } from './json-text.ts'

test('jsonText() equals JSON.stringify(), with bigints as numbers', () => {
  const value = { a: [1, 'x<y'], b: { c: null }, d: undefined }
  expect(jsonText(value, 2)).toBe(JSON.stringify(value, null, 2))
  expect(jsonText({ max: 9223372036854775807n, list: [-9007199254740993n], text: '"\\u00001"' })).toBe(
    '{"max":9223372036854775807,"list":[-9007199254740993],"text":"\\"\\\\u00001\\""}',
  )
  expect(jsonText(12345678901234567890n)).toBe('12345678901234567890')
  expect(jsonText(undefined)).toBe('null')
})
