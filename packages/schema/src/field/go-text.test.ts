import { expect, test } from 'vitest'
import { goTrim } from './go-text.ts'

test('goTrim() removes white space by the definition of Go', () => {
  expect(goTrim(' \u0085\u3000a \t b\u00a0\n')).toBe('a \t b')
  expect(goTrim('\ufeffa')).toBe('\ufeffa')
  expect(goTrim(' \n')).toBe('')
})

test('goTrim() takes linear time for inner white space', () => {
  const text = `a${' '.repeat(1_000_000)}b`
  expect(goTrim(text)).toBe(text)
})
