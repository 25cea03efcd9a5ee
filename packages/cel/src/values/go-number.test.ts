import { expect, test } from 'vitest'
import { parseGoFloat } from './go-number.ts'

test('parseGoFloat() accepts the syntax of Go', () => {
  const texts = [
    '1',
    '-1.5',
    '+.5',
    '1.',
    '1e3',
    '0x1p-2',
    '0x1.8p1',
    '0x.8p1',
    'inf',
    '1_0',
    '.',
    '1e',
    '0x1',
    '',
    '1e999',
  ]
  const numbers = [1, -1.5, 0.5, 1, 1000, 0.25, 3, 1, Number.POSITIVE_INFINITY]
  expect(texts.map(parseGoFloat)).toEqual([...numbers, ...Array(6).fill(undefined)])
})

test('parseGoFloat() refuses long texts in linear time', () => {
  for (const part of ['1', '1.', '1_', '0x1', '.1', '1e1'])
    expect(parseGoFloat(`${part.repeat(100_000)}x`)).toBeUndefined()
  expect(parseGoFloat(`0x${'1'.repeat(100_000)}x`)).toBeUndefined()
})
