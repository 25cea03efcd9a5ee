import { expect, test } from 'vitest'
import { indexOfText, lastIndexOfText, splitText } from './search.ts'

const around = (count: number): string => `${'a'.repeat(count)}b${'a'.repeat(count)}`

test('indexOfText(), lastIndexOfText() and splitText() find long parts like the native methods', () => {
  const text = `${around(700)}${around(300)}aab${'a'.repeat(900)}`
  for (const part of [
    around(600),
    around(300),
    `${'a'.repeat(700)}b`,
    `${around(300)}ab`,
    'a'.repeat(600),
    around(1500),
  ]) {
    expect(text.length * part.length).toBeGreaterThan(1_000_000)
    for (const at of [0, 1, 500, 1400, text.length]) {
      expect(indexOfText(text, part, at)).toBe(text.indexOf(part, at))
      expect(lastIndexOfText(text, part, at)).toBe(text.lastIndexOf(part, at))
    }
    expect(splitText(text, part)).toEqual(text.split(part))
  }
})

test('indexOfText(), lastIndexOfText() and splitText() search a megabyte for half a megabyte', () => {
  // The native methods need 10¹¹ steps for it, more time than a test has.
  const text = 'a'.repeat(1_000_000)
  const part = around(250_000)
  expect(indexOfText(text, part)).toBe(-1)
  expect(lastIndexOfText(text, part, text.length)).toBe(-1)
  expect(splitText(text, part)).toHaveLength(1)
})
