import { expect, test } from 'vitest'
import { actionLine } from './action-line.ts'
import { painted, plain } from './colors.ts'
import { widthOf } from './text-width.ts'

test('actionLine() aligns names, with and without colours', () => {
  expect(actionLine('created', 'a.ts', plain)).toBe('created   a.ts')
  expect(actionLine('unchanged', 'a.ts', plain)).toBe('unchanged a.ts')
  expect(widthOf(actionLine('kept', 'a.ts', painted))).toBe(14)
})
