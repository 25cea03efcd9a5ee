import { expect, test } from 'vitest'
import { type Color, painted } from './colors.ts'
import { safeText } from './safe-text.ts'

test('safeText() escapes control characters', () => {
  expect(safeText('a\u001B[2J\u001B]0;title\u0007b\rc\u009B2J\u2028')).toBe(
    'a\\u001b[2J\\u001b]0;title\\u0007b\\u000dc\\u009b2J\\u2028',
  )
  expect(safeText('hidden \u001B[8m')).toBe('hidden \\u001b[8m')
})

test('safeText() keeps line ends, tabs and colours', () => {
  const colors: readonly Color[] = ['bold', 'red', 'green', 'yellow', 'cyan', 'grey']
  const text = `a\tb\r\nc\n${colors.map((color) => painted(color, color)).join('é')}`
  expect(safeText(text)).toBe(text)
})
