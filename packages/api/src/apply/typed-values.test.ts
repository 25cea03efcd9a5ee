import type { JSONSchemaProps } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { FieldSet } from '../fieldset/field-set.ts'
import { fieldSetPath as path } from '../fieldset/path-element.ts'
import { compareTyped } from './compare.ts'
import { fieldSetOf } from './field-set-of.ts'
import { mergeTyped } from './merge-typed.ts'
import { reconcileWithSchema, withNamedFields } from './reconcile-schema.ts'
import { extractItems, removeItems } from './remove-items.ts'
import { objectTypeOf, type TypeNode } from './type-node.ts'
import { validateTyped } from './validate-typed.ts'

const text: JSONSchemaProps = { type: 'string' }
const spec: JSONSchemaProps = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    flag: { type: 'boolean' },
    port: { 'x-kubernetes-int-or-string': true },
    atomicList: { type: 'array', items: text },
    set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    list: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'proto'],
      items: {
        type: 'object',
        properties: { name: text, proto: { type: 'string', default: 'TCP' }, v: { type: 'integer' } },
      },
    },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    map: { type: 'object', additionalProperties: text },
    atomicMap: { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
    o: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } } },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
  },
}
const type: TypeNode = objectTypeOf({ type: 'object', properties: { spec } })
const of = (value: object): object => ({ apiVersion: 'g/v1', kind: 'K', spec: value })
const below = (set: FieldSet): string[] => set.withPrefix('f:spec').toString().split('\n').filter(Boolean)

describe('validateTyped()', () => {
  test.each<[object, string]>([
    [{ n: 'x' }, '.spec.n: expected numeric (int or float), got string'],
    [{ flag: 'x' }, '.spec.flag: expected boolean, got &{x}'],
    [{ map: { a: 5 } }, '.spec.map.a: expected string, got &value.valueUnstructured{Value:5}'],
    [{ o: [1] }, '.spec.o: expected map, got &{[1]}'],
    [{ set: { a: 1 } }, '.spec.set: expected list, got &{map[a:1]}'],
    [{ zz: 1 }, '.spec.zz: field not declared in schema'],
    [{ set: ['q', 'q'] }, '.spec.set: duplicate entries for key [="q"]'],
    [{ set: [null] }, `.spec.set: element 0: associative list without keys has an element that's an explicit null`],
    [{ set: [{}] }, `.spec.set: element 0: associative list without keys has an element that's a map type`],
    [{ list: ['x'] }, '.spec.list: element 0: associative list with keys may not have non-map elements'],
    [
      { list: [{ name: 'a' }, { name: 'a', proto: 'TCP' }] },
      '.spec.list: duplicate entries for key [name="a",proto="TCP"]',
    ],
    [
      { embedded: { metadata: { labels: { a: 1 } } } },
      '.spec.embedded.metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}',
    ],
    [{ embedded: { metadata: { foo: 1 } } }, '.spec.embedded.metadata.foo: field not declared in schema'],
    [
      { n: 'x', flag: 1 },
      'errors:\n  .spec.n: expected numeric (int or float), got string\n  .spec.flag: expected boolean, got &{1}',
    ],
  ])('rejects %j', (value, message) => {
    expect(() => validateTyped(type, of(value), false)).toThrow(message)
  })

  test('names the missing keys of an item', () => {
    const keyed: JSONSchemaProps = {
      type: 'object',
      properties: {
        l: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['a'],
          items: { type: 'object' },
        },
      },
    }
    expect(() => validateTyped(objectTypeOf(keyed), { l: [{}] }, false)).toThrow(
      `.l: element 0: associative list with keys has an element that omits all key fields ["a"] (and doesn't have default values for any key fields)`,
    )
  })

  test('accepts nulls, duplicates with allowDuplicates, and unknown fields where they are preserved', () => {
    validateTyped(type, of({ n: null, o: null, set: null }), false)
    validateTyped(type, of({ set: ['q', 'q'] }), true)
    validateTyped(type, of({ free: { a: [{ b: 1 }], c: 'x' }, port: 'http' }), false)
    validateTyped(type, of({ port: 80, embedded: { kind: 'X', other: { x: 1 } } }), false)
  })

  test('accepts the fields of metadata without a schema for them', () => {
    expect(() => validateTyped(type, { metadata: { name: 1 } }, false)).toThrow('.metadata.name: expected string')
    expect(() => validateTyped(type, { metadata: { foo: 1 } }, false)).toThrow(
      '.metadata.foo: field not declared in schema',
    )
  })
})

describe('fieldSetOf()', () => {
  test('contains leaves, list items and map keys, but structs only through their fields', () => {
    const value = {
      n: 1,
      atomicList: ['a'],
      set: ['x'],
      list: [{ name: 'a', v: 1 }],
      map: { k: 'v' },
      atomicMap: { k: 'v' },
      o: { a: 1 },
      free: { deep: { er: [1] } },
    }
    expect(below(fieldSetOf(type, of(value)))).toEqual([
      '.atomicList',
      '.atomicMap',
      '.n',
      '.free.deep',
      '.free.deep.er',
      '.list[name="a",proto="TCP"]',
      '.list[name="a",proto="TCP"].name',
      '.list[name="a",proto="TCP"].v',
      '.map.k',
      '.o.a',
      '.set[="x"]',
    ])
  })

  test('contains null fields and empty maps, but not empty associative lists', () => {
    expect(below(fieldSetOf(type, of({ o: {}, map: null, set: [], atomicList: [] })))).toEqual([
      '.atomicList',
      '.map',
      '.o',
    ])
  })

  test('contains duplicates as one leaf', () => {
    expect(below(fieldSetOf(type, of({ list: [{ name: 'a' }, { name: 'a', v: 1 }] })))).toEqual([
      '.list[name="a",proto="TCP"]',
    ])
  })
})

describe('compareTyped()', () => {
  const compare = (before: object, after: object): Record<string, string[]> => {
    const { removed, modified, added } = compareTyped(type, of(before), of(after))
    return { removed: below(removed), modified: below(modified), added: below(added) }
  }

  test('separates removed, modified and added fields', () => {
    const before = { n: 1, o: { a: 1 }, set: ['x', 'y'], atomicMap: { a: '1' } }
    const after = { n: 2, o: { b: 1 }, set: ['y', 'z'], atomicMap: { b: '1' }, map: { k: 'v' } }
    expect(compare(before, after)).toEqual({
      removed: ['.o.a', '.set[="x"]'],
      modified: ['.atomicMap', '.n'],
      added: ['.map', '.map.k', '.o.b', '.set[="z"]'],
    })
  })

  test('finds no difference in equal values, regardless of order', () => {
    const value = { list: [{ name: 'a', v: 1 }, { name: 'b' }], set: ['a', 'b'] }
    const other = { set: ['b', 'a'], list: [{ name: 'b' }, { v: 1, name: 'a' }] }
    expect(compare(value, other)).toEqual({ removed: [], modified: [], added: [] })
  })

  test('compares untyped data under both forms when its form changes', () => {
    expect(compare({ free: { x: 1 } }, { free: { x: { y: 1 } } })).toEqual({
      removed: [],
      modified: ['.free.x'],
      added: ['.free.x.y'],
    })
    expect(compare({ free: { x: { y: 1 } } }, { free: { x: 1 } })).toEqual({
      removed: ['.free.x.y'],
      modified: ['.free.x'],
      added: [],
    })
  })

  test('treats duplicates as one leaf', () => {
    const twice = {
      list: [
        { name: 'a', v: 1 },
        { name: 'a', v: 2 },
      ],
    }
    const element = '.list[name="a",proto="TCP"]'
    expect(
      compare(twice, {
        list: [
          { name: 'a', v: 1 },
          { name: 'a', v: 3 },
        ],
      }).modified,
    ).toEqual([element])
    expect(compare(twice, { list: [] }).removed).toEqual([element])
    expect(compare({ list: [{ name: 'a', v: 1 }] }, twice)).toEqual({
      removed: [element, `${element}.name`, `${element}.v`],
      modified: [],
      added: [element],
    })
  })
})

describe('mergeTyped()', () => {
  const merge = (live: object, applied: object): object =>
    (mergeTyped(type, of(live), of(applied)) as { spec: object }).spec

  test.each<[string, object, object, object]>([
    ['fields', { n: 1, o: { a: 1 } }, { n: 2, o: { b: 2 } }, { n: 2, o: { a: 1, b: 2 } }],
    ['atomic lists', { atomicList: ['a', 'b'] }, { atomicList: ['c'] }, { atomicList: ['c'] }],
    ['atomic maps', { atomicMap: { a: '1' } }, { atomicMap: { b: '2' } }, { atomicMap: { b: '2' } }],
    ['sets, in the applied order', { set: ['a', 'b', 'c'] }, { set: ['c', 'a', 'd'] }, { set: ['b', 'c', 'a', 'd'] }],
    [
      'items with defaulted keys',
      { list: [{ name: 'a', proto: 'TCP', v: 1 }] },
      { list: [{ name: 'a', v: 2 }] },
      { list: [{ name: 'a', proto: 'TCP', v: 2 }] },
    ],
    [
      'new items after the old ones',
      { list: [{ name: 'a' }] },
      { list: [{ name: 'b' }] },
      { list: [{ name: 'a' }, { name: 'b' }] },
    ],
    ['null into a scalar', { n: 1 }, { n: null }, { n: null }],
    ['null into a map without loss', { map: { a: '1' } }, { map: null }, { map: { a: '1' } }],
    ['an empty list without loss', { set: ['a'] }, { set: [] }, { set: ['a'] }],
    [
      'untyped data key by key',
      { free: { a: 1, l: [1, 2] } },
      { free: { b: 1, l: [3] } },
      { free: { a: 1, b: 1, l: [3] } },
    ],
    [
      'a single item into duplicates',
      { list: [{ name: 'a', v: 1 }, { name: 'a', v: 2 }, { name: 'b' }] },
      { list: [{ name: 'a', v: 9 }] },
      { list: [{ name: 'a', v: 9 }, { name: 'b' }] },
    ],
  ])('merges %s', (_, live, applied, expected) => {
    expect(merge(live, applied)).toEqual(expected)
  })

  test('returns the live value itself when nothing changes', () => {
    const live = of({ n: 1, set: ['a', 'b'], list: [{ name: 'a', v: 1 }], o: { a: 1, b: 2 } })
    expect(mergeTyped(type, live, of({ n: 1, set: ['b'], list: [{ name: 'a', v: 1 }], o: { a: 1 } }))).toBe(live)
  })
})

describe('removeItems()', () => {
  const remove = (value: object, ...paths: (readonly string[])[]): object =>
    (removeItems(type, of(value), FieldSet.of(...paths.map((p) => ['f:spec', ...p]))) as { spec: object }).spec

  test('removes fields and items', () => {
    const value = {
      n: 1,
      set: ['a', 'b'],
      list: [
        { name: 'a', v: 1 },
        { name: 'b', v: 1 },
      ],
      map: { a: '1', b: '2' },
    }
    const item = { key: { name: 'b', proto: 'TCP' } }
    expect(remove(value, path('n'), path('set', { value: 'a' }), path('list', item, 'v'), path('map', 'a'))).toEqual({
      set: ['b'],
      list: [{ name: 'a', v: 1 }, { name: 'b' }],
      map: { b: '2' },
    })
  })

  test('leaves null where no contents remain', () => {
    expect(remove({ o: { a: 1 }, set: ['a'] }, path('o', 'a'), path('set', { value: 'a' }))).toEqual({
      o: null,
      set: null,
    })
    expect(remove({ o: {}, n: 1 }, path('o', 'a'))).toEqual({ o: null, n: 1 })
  })
})

describe('extractItems()', () => {
  test('keeps owned fields and the keys of items', () => {
    const value = of({
      n: 1,
      list: [
        { name: 'a', v: 1 },
        { name: 'b', v: 2 },
      ],
      o: { a: 1, b: 2 },
      map: { x: '1' },
    })
    const owned = FieldSet.of(
      path('spec', 'list', { key: { name: 'b', proto: 'TCP' } }, 'v'),
      path('spec', 'o', 'b'),
      path('spec', 'map'),
    )
    expect(extractItems(type, value, owned)).toEqual({ spec: { list: [{ name: 'b', v: 2 }], o: { b: 2 }, map: {} } })
  })
})

describe('reconcileWithSchema()', () => {
  test('converts ownership inside a field that became atomic to ownership of the field', () => {
    const set = FieldSet.of(
      path('spec', 'atomicMap', 'a'),
      path('spec', 'atomicList', { value: 'x' }),
      path('spec', 'n'),
      path('spec', 'free', 'x', 'y'),
    )
    expect(below(reconcileWithSchema(set, type))).toEqual(['.atomicList', '.atomicMap', '.n', '.free.x.y'])
  })

  test('returns a matching set unchanged', () => {
    const set = fieldSetOf(type, of({ n: 1, o: { a: 1 }, atomicMap: { a: '1' } }))
    expect(reconcileWithSchema(set, type)).toBe(set)
  })
})

describe('withNamedFields()', () => {
  test('adds enclosing structs, but not map keys and items', () => {
    const item = { key: { name: 'a', proto: 'TCP' } }
    const set = FieldSet.of(path('spec', 'o', 'a'), path('spec', 'free', 'x', 'y'), path('spec', 'list', item, 'v'))
    expect(withNamedFields(set, type).toString().split('\n')).toEqual([
      '.spec',
      '.spec.free',
      '.spec.list',
      '.spec.o',
      '.spec.free.x.y',
      '.spec.list[name="a",proto="TCP"].v',
      '.spec.o.a',
    ])
  })
})
