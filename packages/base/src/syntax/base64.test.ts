import { expect, test } from 'vitest'
import { base64Prefix } from './base64.ts'

test.each([
  ['', 0],
  ['QUJD', 4],
  ['QUJDRA', 4],
  ['QUJDRA=', 4],
  ['QUJDRA==', 8],
  ['QUJDRA===', 8],
  ['QUJDREU=', 8],
  ['QUJDREU==', 8],
  ['QUJDRE=U', 4],
  ['QU.D', 0],
  ['====', 0],
])('base64Prefix(%j) is %i', (text, length) => {
  expect(base64Prefix(text)).toBe(length)
})

test('base64Prefix() reads 64 MB', () => {
  expect(base64Prefix('QUJD'.repeat(16_000_000))).toBe(64_000_000)
})
