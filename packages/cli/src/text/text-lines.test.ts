import { expect, test } from 'vitest'
import { linesOf, textDiff } from './text-lines.ts'

test('linesOf() ignores the line end of the last line', () => {
  expect(linesOf('a\nb\n')).toEqual(['a', 'b'])
  expect(linesOf('a\n\n')).toEqual(['a', ''])
  expect(linesOf('')).toEqual([])
})

test('textDiff() is empty for equal texts', () => {
  expect(textDiff('', 'x\n')).toEqual(['@@ -0,0 +1 @@', '+x'])
  expect(textDiff('a\nb\n', 'a\nb\n')).toEqual([])
})
