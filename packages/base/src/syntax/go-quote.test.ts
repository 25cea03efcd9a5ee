import { expect, test } from 'vitest'
import { goQuote, shortQuote } from './go-quote.ts'

test.each([
  ['plain', '"plain"'],
  ['a"b\\c', '"a\\"b\\\\c"'],
  ['\n\t\x07\x00\x7f', '"\\n\\t\\a\\x00\\x7f"'],
  ['äöü 語 😀', '"äöü 語 😀"'],
  ['\u00a0\u200b\u{e0001}', '"\\u00a0\\u200b\\U000e0001"'],
])('goQuote() quotes %j like Go', (text, quoted) => {
  expect(goQuote(text)).toBe(quoted)
})

test('shortQuote() escapes only characters with a one-letter escape', () => {
  expect(shortQuote('a"\\\n\x07\x01ü\u{1f600}')).toBe('"a\\"\\\\\\n\\a\x01ü\u{1f600}"')
  expect(shortQuote('\ud800x')).toBe('"\ufffdx"')
})
