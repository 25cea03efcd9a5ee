import { describe, expect, test } from 'vitest'
import { paintDiff, painted, plain } from './colors.ts'

describe('paintDiff()', () => {
  test('colours lines as git does, and leaves context lines unchanged', () => {
    expect(
      ['--- a', '+++ b', '@@ -1 +1 @@', '-old', '+new', ' same', ''].map((line) => paintDiff(line, painted)),
    ).toEqual([
      '\u001B[1m--- a\u001B[0m',
      '\u001B[1m+++ b\u001B[0m',
      '\u001B[36m@@ -1 +1 @@\u001B[0m',
      '\u001B[31m-old\u001B[0m',
      '\u001B[32m+new\u001B[0m',
      ' same',
      '',
    ])
    expect(paintDiff('+new', plain)).toBe('+new')
  })
})
