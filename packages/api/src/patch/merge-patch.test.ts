import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyMergePatch, createMergePatch, createThreeWayMergePatch, decodeMergePatch } from './merge-patch.ts'
import { PatchError } from './patch-error.ts'

describe('applyMergePatch()', () => {
  // The examples of RFC 7386 in which both values are objects.
  test.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('of %j and %j gives %j', (document, patch, expected) => {
    const before = structuredClone(document)
    expect(applyMergePatch<object>(document, patch)).toEqual(expected)
    expect(document).toEqual(before)
  })

  test('drops null fields within new lists and keeps null items', () => {
    expect(applyMergePatch<object>({}, { a: [{ b: null, c: 1 }, null] })).toEqual({ a: [{ c: 1 }, null] })
  })

  test('sorts the keys of merged objects, as Kubernetes does', () => {
    expect(JSON.stringify(applyMergePatch<object>({ z: 1, m: { b: 1, a: 1 } }, { a: { y: 1, x: 1 } }))).toBe(
      '{"a":{"x":1,"y":1},"m":{"b":1,"a":1},"z":1}',
    )
  })
})

describe('decodeMergePatch()', () => {
  test.each([
    [null, 'Invalid JSON Patch'],
    [[], 'error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}'],
    ['s', 'error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}'],
  ])('rejects %j', (patch, message) => {
    expect(() => decodeMergePatch(patch)).toThrow(new PatchError(message, 'BadRequest'))
  })
})

describe('createMergePatch()', () => {
  test('changes, adds and removes fields', () => {
    const patch = createMergePatch({ a: 1, b: { c: 1, d: 2 }, e: 1 }, { a: 1, b: { c: 2, d: 2 }, f: [1] })
    expect(patch).toEqual({ b: { c: 2 }, f: [1], e: null })
  })

  test('creates patches that turn one document into another that has no nulls', () => {
    const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.integer(), { maxLength: 2 }))
    const { object } = fc.letrec<{ object: Record<string, unknown> }>((tie) => ({
      object: fc.dictionary(fc.string({ maxLength: 3 }), fc.oneof({ maxDepth: 3 }, leaf, tie('object')), {
        maxKeys: 4,
      }),
    }))
    fc.assert(
      fc.property(object, object, (before, after) => {
        expect(applyMergePatch<object>(before, createMergePatch(before, after))).toEqual(after)
      }),
    )
  })
})

describe('createThreeWayMergePatch()', () => {
  test('keeps fields of other writers and removes fields applied before', () => {
    const original = { spec: { a: 1, gone: 1 } }
    const modified = { spec: { a: 2, b: {} } }
    const current = { spec: { a: 1, gone: 1, other: 1 } }
    const patch = createThreeWayMergePatch(original, modified, current)
    expect(patch).toEqual({ spec: { a: 2, b: {}, gone: null } })
    expect(applyMergePatch(current, patch)).toEqual({ spec: { a: 2, b: {}, other: 1 } })
  })
})
