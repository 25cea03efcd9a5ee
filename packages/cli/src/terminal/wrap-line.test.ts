import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { painted } from './colors.ts'
import { widthOf } from './text-width.ts'
import { wrapLine } from './wrap-line.ts'

describe('wrapLine()', () => {
  test('breaks between words and indents continuation lines', () => {
    expect(wrapLine('one two three four', 9)).toBe('one two\n  three\n  four')
    expect(wrapLine('  one two three', 9)).toBe('  one two\n    three')
    expect(wrapLine('one two three four', 11, 4)).toBe('one two\n    three\n    four')
  })

  test('keeps lines that fit, blanks within lines and words that are too wide', () => {
    expect(wrapLine('a  b ', 80)).toBe('a  b ')
    expect(wrapLine('export KUBECONFIG=/a/very/long/path', 12)).toBe('export\n  KUBECONFIG=/a/very/long/path')
    expect(wrapLine('name   text more', 12)).toBe('name   text\n  more')
  })

  test('ignores the width of colours', () => {
    const line = `${painted('red', 'one')} ${painted('cyan', 'two')}`
    expect(wrapLine(line, 7)).toBe(line)
    expect(wrapLine(line, 6).split('\n').map(widthOf)).toEqual([3, 5])
  })

  test('closes colours at the end of a line and reopens them in the next', () => {
    const [red, end] = painted('red', '|').split('|')
    expect(wrapLine(`a ${painted('red', 'b c')} d`, 4)).toBe(`a ${red}b${end}\n  ${red}c${end}\n  d`)
  })

  test('counts two columns for wide characters', () => {
    expect(wrapLine('部品 部品 部品', 10)).toBe('部品 部品\n  部品')
  })

  test('keeps all words, and exceeds the width only for a wider word', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,9}$/), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(words, fc.integer({ min: 20, max: 60 }), fc.nat(4), (list, columns, indent) => {
        const wrapped = wrapLine(' '.repeat(indent) + list.join(' '), columns)
        expect(wrapped.trim().split(/\s+/)).toEqual(list)
        for (const line of wrapped.split('\n')) expect(line.length).toBeLessThanOrEqual(columns)
      }),
    )
  })
})
