import { expect, test } from 'vitest'
import { parseJson } from './decode-json.ts'

test.each(['9'.repeat(400), `-${'9'.repeat(400)}`])('parseJson() refuses an integer beyond float64', (literal) => {
  expect(() => parseJson(`{"a":${literal}}`)).toThrow(
    `json: cannot unmarshal number ${literal} into Go value of type float64`,
  )
})

test('parseJson() reads integers around the limits of int64', () => {
  expect(parseJson('[9223372036854775807,-9223372036854775808,9223372036854775808,1000000000000000000000]')).toEqual([
    9223372036854775807n,
    -9223372036854775808n,
    2 ** 63,
    1e21,
  ])
})
