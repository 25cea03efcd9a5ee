import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergeTexts } from './merge-texts.ts'
import { linesOf } from './text-lines.ts'

const text = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('')
const someLines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })

describe('mergeTexts()', () => {
  const base = text('one', 'two', 'three', 'four', 'five')

  test('combines the changes of both sides', () => {
    const ours = base.replace('one', 'ONE')
    const theirs = base.replace('five', 'five\nsix')
    expect(mergeTexts(base, ours, theirs)).toBe(text('ONE', 'two', 'three', 'four', 'five', 'six'))
    expect(mergeTexts(base, ours, ours)).toBe(ours)
  })

  test('returns undefined if both sides changed the same or adjacent lines', () => {
    expect(mergeTexts(base, base.replace('two', 'TWO'), base.replace('two', 'zwei'))).toBeUndefined()
    expect(mergeTexts(base, base.replace('two', 'TWO'), base.replace('three', 'drei'))).toBeUndefined()
  })

  test('takes the changes of one side if the other has none', () => {
    fc.assert(
      fc.property(someLines, someLines, (a, b) => {
        const [first, second] = [text(...a), text(...b)]
        expect(linesOf(mergeTexts(first, first, second)!)).toEqual(b)
        expect(linesOf(mergeTexts(first, second, first)!)).toEqual(b)
      }),
    )
  })
})
