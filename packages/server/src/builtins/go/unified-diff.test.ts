import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonDiff, unifiedDiff } from './unified-diff.ts'

test('unifiedDiff() shows changes with three lines around them, and joins those that touch', () => {
  const a = [...'abcdefghijklmnop'].map((line) => `${line}\n`)
  const b = a.map((line) => (line === 'b\n' || line === 'p\n' ? line.toUpperCase() : line))
  expect(unifiedDiff(a, b)).toBe('@@ -1,5 +1,5 @@\n a\n-b\n+B\n c\n d\n e\n@@ -13,4 +13,4 @@\n m\n n\n o\n-p\n+P\n')
})

test('unifiedDiff() of equal lists is empty', () => {
  expect(unifiedDiff(['a\n'], ['a\n'])).toBe('')
})

test('unifiedDiff() ignores lines that are everywhere in long lists', () => {
  const common = Array.from({ length: 250 }, (_, i) => (i % 2 === 0 ? 'null\n' : `line ${i}\n`))
  const changed = [...common.slice(0, 101), 'new\n', ...common.slice(101)]
  expect(unifiedDiff(common, changed)).toBe(
    '@@ -99,6 +99,7 @@\n null\n line 99\n null\n+new\n line 101\n null\n line 103\n',
  )
})

test('jsonDiff() escapes as Go does', () => {
  expect(jsonDiff({ A: '' }, { A: '<&>' })).toBe('@@ -1,3 +1,3 @@\n {\n- "A": ""\n+ "A": "\\u003c\\u0026\\u003e"\n }\n')
})

test('unifiedDiff() makes the second list of the first', () => {
  const lines = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n'), { maxLength: 30 })
  fc.assert(
    fc.property(lines, lines, (a, b) => {
      expect(patched(a, unifiedDiff(a, b))).toEqual(b)
    }),
  )
})

/** Applies a diff, checking that what it removes and keeps is there. */
function patched(a: readonly string[], diff: string): string[] {
  const result: string[] = []
  let position = 0
  for (const line of diff.split('\n').slice(0, -1)) {
    const header = /^@@ -(\d+)(?:,(\d+))? /.exec(line)
    if (header) {
      const start = header[2] === '0' ? Number(header[1]) : Number(header[1]) - 1
      result.push(...a.slice(position, start))
      position = start
      continue
    }
    const text = `${line.slice(1)}\n`
    if (line[0] !== '+') expect(a[position++]).toBe(text)
    if (line[0] !== '-') result.push(text)
  }
  return [...result, ...a.slice(position)]
}
