import { expect, test } from 'vitest'
import { lineCountProblems } from './line-counts.ts'

test('lineCountProblems() reports counts that differ by more than a tenth', () => {
  const text = 'The folder `packages/a/src` has about 1,200 lines. `b` has about 100 lines.'
  expect(lineCountProblems('adr.md', text, (folder) => (folder === 'b' ? 109 : 1_150))).toEqual([])
  expect(lineCountProblems('adr.md', text, () => 1_596)).toEqual([
    'adr.md states 1,200 lines for packages/a/src, which has 1596',
    'adr.md states 100 lines for b, which has 1596',
  ])
})
