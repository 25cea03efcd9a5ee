import { describe, expect, test } from 'vitest'
import { matchesRegex, regexOf } from './regex.ts'

describe('matchesRegex()', () => {
  test.each([
    ['a label', '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'my-name-1', true],
    ['a label with a dash at the end', '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'my-name-', false],
    ['a part of the text', 'b+c', 'aabbbcd', true],
    ['the end only, not before a final newline', 'a$', 'a\n', false],
    ['several anchored branches', '^$|^x+$', '', true],
    ['code points as one character', '^.{2}$', '😀😀', true],
    ['the whole of nothing', '$^', '', true],
  ])('matches %s', (_, pattern, text, expected) => {
    expect(matchesRegex(text, pattern)).toBe(expected)
  })
})

describe('regexOf()', () => {
  test('rejects invalid patterns with the text of RE2', () => {
    expect(() => regexOf('a**')).toThrow('error parsing regexp: invalid nested repetition operator: `**`')
    expect(() => regexOf('(a{100}){100}')).toThrow('error parsing regexp: invalid repeat count: `{100}`')
    expect(() => regexOf('a\\')).toThrow('error parsing regexp: trailing backslash at end of expression: ``')
    expect(() => regexOf('[b-a]')).toThrow('error parsing regexp: invalid character class range: `b-a`')
  })
})
