import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeTexts } from './merge-texts.ts'
import { linesOf, textDiff } from './text-lines.ts'

const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('')
const someLines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })

describe('textDiff()', () => {
  it('shows three lines around each change, and numbers as diff does', () => {
    const before = text(...'abcdefghijklmnop')
    const after = before.replace('c\n', 'C\n').replace('n\n', 'n\nN\n')
    expect(textDiff(before, after)).toEqual([
      '@@ -1,6 +1,6 @@',
      ' a',
      ' b',
      '-c',
      '+C',
      ' d',
      ' e',
      ' f',
      '@@ -12,5 +12,6 @@',
      ' l',
      ' m',
      ' n',
      '+N',
      ' o',
      ' p',
    ])
    expect(textDiff('', text('x'))).toEqual(['@@ -0,0 +1 @@', '+x'])
    expect(textDiff(before, before)).toEqual([])
  })
})

describe('mergeTexts()', () => {
  const base = text('one', 'two', 'three', 'four', 'five')

  it('takes over changes of both', () => {
    const ours = base.replace('one', 'ONE')
    const theirs = base.replace('five', 'five\nsix')
    expect(mergeTexts(base, ours, theirs)).toBe(text('ONE', 'two', 'three', 'four', 'five', 'six'))
    expect(mergeTexts(base, ours, ours)).toBe(ours)
  })

  it('gives up where both changed the same or neighbouring lines', () => {
    expect(mergeTexts(base, base.replace('two', 'TWO'), base.replace('two', 'zwei'))).toBeUndefined()
    expect(mergeTexts(base, base.replace('two', 'TWO'), base.replace('three', 'drei'))).toBeUndefined()
  })

  it('gives one side what the other left alone', () => {
    fc.assert(
      fc.property(someLines, someLines, (a, b) => {
        const [first, second] = [text(...a), text(...b)]
        expect(linesOf(mergeTexts(first, first, second)!)).toEqual(b)
        expect(linesOf(mergeTexts(first, second, first)!)).toEqual(b)
      }),
    )
  })
})
