import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FieldSet } from './field-set.ts'
import { anyElement, excludeFields, includeFields } from './field-set-filter.ts'
import { type FieldSetPath, fieldSetPath, serializePathElement } from './path-element.ts'

const path = fieldSetPath

const anyPath: fc.Arbitrary<FieldSetPath> = fc.array(
  fc
    .oneof(
      fc.record({ field: fc.constantFrom('a', 'b', 'c', '__proto__', 'constructor') }),
      fc.record({ key: fc.record({ name: fc.constantFrom('x', 'y') }) }),
      fc.record({ value: fc.oneof(fc.constantFrom('x', '<'), fc.integer({ min: 0, max: 2 })) }),
      fc.record({ index: fc.nat(2) }),
    )
    .map(serializePathElement),
  { minLength: 1, maxLength: 4 },
)
const anySet: fc.Arbitrary<FieldSet> = fc.array(anyPath, { maxLength: 12 }).map((paths) => FieldSet.of(...paths))

describe('FieldSet.parse()', () => {
  test('decodes members, parents, and parents that are members', () => {
    const set = FieldSet.parse({ 'f:a': { '.': {}, 'f:b': {} }, 'f:c': { 'f:d': {} } })
    expect(set.toString()).toBe('.a\n.a.b\n.c.d')
  })

  test('drops elements of unknown types', () => {
    expect(FieldSet.parse({ 'f:a': { 'z:9': {} }, 'z:1': {} }).toString()).toBe('.a')
  })

  test('normalizes the order and spelling of elements', () => {
    const set = FieldSet.parse({ 'k:{"b":1, "a":2}': {}, 'f:z': {}, 'f:a': {} })
    expect(JSON.stringify(set)).toBe('{"f:a":{},"f:z":{},"k:{\\"a\\":2,\\"b\\":1}":{}}')
  })

  test('rejects values that are not objects', () => {
    expect(() => FieldSet.parse({ 'f:a': 1 })).toThrow(SyntaxError)
    expect(() => FieldSet.parse({ x: {} })).toThrow('key must be 2 characters long:')
  })
})

describe('FieldSet.of()', () => {
  test('ignores the empty path', () => {
    expect(FieldSet.of([]).isEmpty).toBe(true)
  })
})

describe('FieldSet.paths()', () => {
  test('lists the members of a level before the paths below them', () => {
    const set = FieldSet.of(path('b', 'x'), path('b'), path('a', 'y'))
    expect(set.paths()).toEqual([path('b'), path('a', 'y'), path('b', 'x')])
  })
})

describe('FieldSet', () => {
  test('round-trips through JSON', () => {
    fc.assert(
      fc.property(anySet, (set) => {
        const back = FieldSet.parse(JSON.parse(JSON.stringify(set)))
        expect(back.equals(set)).toBe(true)
        expect(JSON.stringify(back)).toBe(JSON.stringify(set))
      }),
    )
  })

  test('behaves like a plain set of paths', () => {
    const texts = (set: FieldSet): Set<string> => new Set(set.paths().map((p) => JSON.stringify(p)))
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        const [left, right] = [texts(a), texts(b)]
        expect(texts(a.union(b))).toEqual(new Set([...left, ...right]))
        expect(texts(a.intersection(b))).toEqual(new Set([...left].filter((p) => right.has(p))))
        expect(texts(a.difference(b))).toEqual(new Set([...left].filter((p) => !right.has(p))))
        expect(a.isSubsetOf(b)).toBe([...left].every((p) => right.has(p)))
        expect(a.equals(b)).toBe(left.size === right.size && [...left].every((p) => right.has(p)))
        expect(a.size).toBe(left.size)
        for (const p of b.paths()) expect(a.has(p)).toBe(left.has(JSON.stringify(p)))
      }),
    )
  })

  test('obeys the laws of sets', () => {
    fc.assert(
      fc.property(anySet, anySet, anySet, (a, b, c) => {
        expect(a.union(b).equals(b.union(a))).toBe(true)
        expect(a.union(b.union(c)).equals(a.union(b).union(c))).toBe(true)
        expect(a.difference(b).union(a.intersection(b)).equals(a)).toBe(true)
        expect(a.difference(b).intersection(b).isEmpty).toBe(true)
        expect(a.difference(a).isEmpty).toBe(true)
      }),
    )
  })

  test('returns itself when an operation changes nothing', () => {
    fc.assert(
      fc.property(anySet, anySet, (a, b) => {
        const both = a.union(b)
        expect(both.union(b)).toBe(both)
        const rest = a.difference(b)
        expect(rest.difference(b)).toBe(rest)
      }),
    )
  })
})

describe('FieldSet.recursiveDifference()', () => {
  test('removes a path and everything below it', () => {
    const set = FieldSet.of(path('spec'), path('spec', 'a', 'b'), path('status', 'x'))
    expect(set.recursiveDifference(FieldSet.of(path('spec'))).toString()).toBe('.status.x')
    expect(set.difference(FieldSet.of(path('spec'))).toString()).toBe('.spec.a.b\n.status.x')
  })
})

describe('FieldSet.leaves()', () => {
  test('keeps the longest paths', () => {
    const set = FieldSet.of(path('a'), path('a', 'b'), path('c'))
    expect(set.leaves().toString()).toBe('.c\n.a.b')
  })
})

describe('excludeFields()', () => {
  test('removes paths and everything below them', () => {
    const filter = excludeFields(FieldSet.of(path('status')))
    expect(filter(FieldSet.of(path('spec'), path('status', 'a'))).toString()).toBe('.spec')
  })
})

describe('includeFields()', () => {
  test('keeps matches and everything below them', () => {
    const filter = includeFields(['spec', 'containers', anyElement, 'resources'])
    const item = { key: { name: 'a' } }
    const set = FieldSet.of(
      path('spec', 'containers', item),
      path('spec', 'containers', item, 'image'),
      path('spec', 'containers', item, 'resources', 'limits'),
      path('metadata'),
    )
    expect(filter(set).toString()).toBe('.spec.containers[name="a"]\n.spec.containers[name="a"].resources.limits')
  })
})
