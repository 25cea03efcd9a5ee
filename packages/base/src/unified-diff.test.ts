import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { diffLines, unifiedDiff } from './unified-diff.ts'

const letters = (text: string): string[] => [...text]

describe('diffLines()', () => {
  test('returns no changes for equal lists', () => {
    expect(diffLines(letters('abc'), letters('abc'))).toEqual([])
  })

  test('names the replaced lines of the old list and their replacement', () => {
    expect(diffLines(letters('abcd'), letters('xbyzd'))).toEqual([
      { start: 0, end: 1, lines: ['x'] },
      { start: 2, end: 3, lines: ['y', 'z'] },
    ])
  })

  test('keeps the longest shared run, although more lines could stay in all', () => {
    expect(diffLines(letters('abxcydez'), letters('xyzabcde'))).toEqual([
      { start: 0, end: 0, lines: ['x', 'y', 'z'] },
      { start: 2, end: 3, lines: [] },
      { start: 4, end: 5, lines: [] },
      { start: 7, end: 8, lines: [] },
    ])
    expect(diffLines(letters('axbxcdef'), letters('cdefabc'))).toEqual([
      { start: 0, end: 4, lines: [] },
      { start: 8, end: 8, lines: ['a', 'b', 'c'] },
    ])
  })
})

describe('unifiedDiff()', () => {
  test('returns no lines for equal lists', () => {
    expect(unifiedDiff(['a'], ['a'])).toEqual([])
  })

  test('shows three lines of context and separates changes whose contexts do not touch', () => {
    const before = letters('abcdefghijklmnop')
    const after = before.map((line) => (line === 'b' || line === 'p' ? line.toUpperCase() : line))
    expect(unifiedDiff(before, after)).toEqual([
      '@@ -1,5 +1,5 @@',
      ...[' a', '-b', '+B', ' c', ' d', ' e'],
      '@@ -13,4 +13,4 @@',
      ...[' m', ' n', ' o', '-p', '+P'],
    ])
  })

  test('joins changes whose contexts touch', () => {
    const before = letters('abcdefgh')
    expect(unifiedDiff(before, letters('AbcdefgH'))).toEqual([
      '@@ -1,8 +1,8 @@',
      ...['-a', '+A', ' b', ' c', ' d', ' e', ' f', ' g', '-h', '+H'],
    ])
  })

  test('names the line before an empty range and leaves a length of one out', () => {
    expect(unifiedDiff([], ['a'])).toEqual(['@@ -0,0 +1 @@', '+a'])
    expect(unifiedDiff(['a', 'b'], [])).toEqual(['@@ -1,2 +0,0 @@', '-a', '-b'])
  })

  test('takes the number of context lines', () => {
    expect(unifiedDiff(letters('abc'), letters('aBc'), 0)).toEqual(['@@ -2 +2 @@', '-b', '+B'])
  })

  test('does not align long texts by their frequent lines', () => {
    const before = Array.from({ length: 250 }, (_, i) => (i % 2 === 0 ? 'null' : `line ${i}`))
    const after = [...before.slice(0, 101), 'new', ...before.slice(101)]
    expect(unifiedDiff(before, after)).toEqual([
      '@@ -99,6 +99,7 @@',
      ...[' null', ' line 99', ' null', '+new', ' line 101', ' null', ' line 103'],
    ])
  })

  test('describes every change: a patch with the diff yields the new list', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 })
    fc.assert(
      fc.property(lines, lines, fc.nat({ max: 4 }), (before, after, context) => {
        expect(patch(before, unifiedDiff(before, after, context))).toEqual(after)
      }),
    )
  })
})

/** Applies a diff and checks that the lines it removes and keeps are there. */
function patch(before: readonly string[], diff: readonly string[]): string[] {
  const result: string[] = []
  let position = 0
  for (const line of diff) {
    const header = /^@@ -(\d+)(?:,(\d+))? /.exec(line)
    if (header) {
      const start = header[2] === '0' ? Number(header[1]) : Number(header[1]) - 1
      result.push(...before.slice(position, start))
      position = start
      continue
    }
    const text = line.slice(1)
    if (line[0] !== '+') expect(before[position++]).toBe(text)
    if (line[0] !== '-') result.push(text)
  }
  return [...result, ...before.slice(position)]
}
