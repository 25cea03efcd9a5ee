import { expect, test } from 'vitest'
import { oneLine } from './one-line.ts'

test('oneLine() escapes control characters and line separators', () => {
  expect(oneLine('a\x1b[31m\n::error::\u2028é')).toBe('a\\u001b[31m\\u000a::error::\\u2028é')
})
