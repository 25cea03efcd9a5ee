import { expect, test } from 'vitest'
import { trim, trimEnd } from './trim.ts'

test('trimEnd() removes a character from the end only', () => {
  expect(trimEnd('//a//b//', '/')).toBe('//a//b')
  expect(trimEnd('///', '/')).toBe('')
  expect(trimEnd('', '/')).toBe('')
})

test('trim() removes a character from both ends', () => {
  expect(trim('//a//b//', '/')).toBe('a//b')
  expect(trim('///', '/')).toBe('')
})
