import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepCopy } from './deep-copy.ts'
import { deepFreeze } from './deep-freeze.ts'

describe('deepCopy()', () => {
  test('returns an equal value that shares no object, for any JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        deepFreeze(value)
        const copy = deepCopy(value)
        expect(copy).toStrictEqual(value)
        const originals = objectsIn(value)
        for (const object of objectsIn(copy)) {
          expect(originals.has(object)).toBe(false)
          expect(Object.isFrozen(object)).toBe(false)
        }
      }),
    )
  })

  test('keeps bigints, undefined and an own __proto__', () => {
    const source = { big: 2n ** 70n, none: undefined, nested: JSON.parse('{"__proto__":{"polluted":true}}') }
    const copy = deepCopy(source)
    expect(copy).toStrictEqual(source)
    expect(Object.hasOwn(copy.nested, '__proto__')).toBe(true)
    expect(copy.nested.polluted).toBeUndefined()
  })

  test.each([new Date(0), new Map(), new (class Pod {})()])('rejects %o, which is not JSON data', (value) => {
    expect(() => deepCopy({ a: [value] })).toThrow(`Cannot copy ${value.constructor.name}: it is not JSON data`)
  })
})

describe('deepFreeze()', () => {
  test('freezes every object and array and returns the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(deepFreeze(value)).toBe(value)
        for (const object of objectsIn(value)) expect(Object.isFrozen(object)).toBe(true)
      }),
    )
  })

  test('skips a part that is already frozen', () => {
    const inner = { mutable: {} }
    deepFreeze({ part: Object.freeze(inner) })
    expect(Object.isFrozen(inner.mutable)).toBe(false)
  })
})

function objectsIn(value: unknown, found: Set<object> = new Set()): Set<object> {
  // Collects objects by identity: empty objects and arrays are indistinguishable by content.
  if (typeof value !== 'object' || value === null) return found
  found.add(value)
  for (const item of Object.values(value)) objectsIn(item, found)
  return found
}
