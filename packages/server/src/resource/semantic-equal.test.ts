import { describe, expect, test } from 'vitest'
import { hasEmptyParts, semanticEqual } from './semantic-equal.ts'

describe('semanticEqual()', () => {
  test.each<[unknown, unknown, boolean]>([
    [[], undefined, true],
    [{ a: [] }, {}, true],
    [{}, { a: { b: [] } }, false],
    [{ a: { b: [] } }, { a: {} }, true],
    [{ labels: {} }, {}, true],
    // A struct that is present and empty differs from an absent one.
    [{ securityContext: {} }, {}, false],
    [[1], [], false],
    [{ a: 1, b: null }, { a: 1 }, false],
    [{ ['__proto__']: [1] }, {}, false],
  ])('compares %j and %j: %s', (a, b, equal) => {
    expect(semanticEqual(a, b)).toBe(equal)
    expect(semanticEqual(b, a)).toBe(equal)
  })
})

test('hasEmptyParts() finds empty lists and maps at any depth', () => {
  expect(hasEmptyParts({ a: [{ b: [] }] })).toBe(true)
  expect(hasEmptyParts({ spec: { fieldsV1: { a: [] } } })).toBe(true)
  expect(hasEmptyParts({ metadata: { labels: {} } })).toBe(true)
  expect(hasEmptyParts({ spec: { securityContext: {} }, list: [1] })).toBe(false)
})
