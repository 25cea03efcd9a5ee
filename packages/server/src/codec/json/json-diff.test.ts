import { expect, test } from 'vitest'
import { jsonDiff } from './json-diff.ts'

test('jsonDiff() compares indented JSON and escapes it as Go does', () => {
  expect(jsonDiff({ A: '' }, { A: '<&>' })).toBe('@@ -1,3 +1,3 @@\n {\n- "A": ""\n+ "A": "\\u003c\\u0026\\u003e"\n }\n')
})

test('jsonDiff() of equal values is empty', () => {
  expect(jsonDiff({ A: 1 }, { A: 1 })).toBe('')
})
