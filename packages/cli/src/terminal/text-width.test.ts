import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { painted } from './colors.ts'
import { cutText, widthOf } from './text-width.ts'

describe('widthOf()', () => {
  test.each([
    ['home', 4],
    ['höme', 4],
    ['ho\u0308me', 4],
    ['宿屋', 4],
    ['こんにちは。', 12],
    ['오퍼레이터', 10],
    ['ｶﾅ', 2],
    ['Ｈｏ', 4],
    ['𠮷野家', 6],
    ['🚒 →…⠋', 6],
    ['a\u200Bb', 2],
    [painted('red', '赤'), 2],
  ])('of %j is %i', (text, width) => expect(widthOf(text)).toBe(width))
})

describe('cutText()', () => {
  test('keeps text that fits, and never splits a character', () => {
    expect(cutText('宿屋の管理人', 12)).toBe('宿屋の管理人')
    expect(cutText('宿屋の管理人', 11)).toBe('宿屋の管理…')
    expect(cutText('宿屋の管理人', 10)).toBe('宿屋の管…')
  })

  test('never exceeds the width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 20 }), (text, columns) => {
        expect(widthOf(cutText(text, columns))).toBeLessThanOrEqual(columns)
      }),
    )
  })
})
