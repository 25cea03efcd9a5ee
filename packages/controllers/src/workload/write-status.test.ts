import { expect, test } from 'vitest'
import { sameContent } from './write-status.ts'

test.each<[unknown, unknown, boolean]>([
  [{ a: 1 }, { a: 1 }, true],
  [{ a: 1 }, { a: 2 }, false],
  [{ a: 1, b: null }, { a: 1 }, true],
  [{ a: 1 }, { a: 1, b: undefined, c: {}, d: { e: null, f: {} } }, true],
  [{ a: 1 }, { a: 1, b: { c: 0 } }, false],
  [{ a: { b: 1 } }, { a: null }, false],
  // An empty list counts.
  [{ a: [] }, {}, false],
  [{ a: [{ b: null }] }, { a: [{}] }, true],
  [{ a: [1, 2] }, { a: [1] }, false],
  [{ a: [1] }, { a: { 0: 1 } }, false],
  [null, undefined, true],
  [{}, undefined, false],
  [{ a: null }, {}, true],
  ['a', 'a', true],
  ['a', null, false],
])('sameContent(%j, %j) is %j', (a, b, expected) => {
  expect(sameContent(a, b)).toBe(expected)
  expect(sameContent(b, a)).toBe(expected)
})
