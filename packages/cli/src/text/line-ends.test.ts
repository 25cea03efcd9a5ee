import { expect, test } from 'vitest'
import { withEndsOf, withUnixEnds } from './line-ends.ts'

test('withEndsOf() keeps the Windows line ends of a file', () => {
  expect(withEndsOf('a\r\nb\r\n', 'c\nd\n')).toBe('c\r\nd\r\n')
  expect(withEndsOf('a\r\n', 'c\r\nd\n')).toBe('c\r\nd\r\n')
  expect(withEndsOf('a\nb\r\n', 'c\nd\n')).toBe('c\nd\n')
  expect(withEndsOf(undefined, 'c\n')).toBe('c\n')
  expect(withUnixEnds('a\r\nb\rc\n')).toBe('a\nb\rc\n')
})
