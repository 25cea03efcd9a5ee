import { inspect } from 'node:util'
import { deepCopy, deepEqual } from '@kubewright/base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EncodedReader } from './encoded-reader.ts'

const reader = new EncodedReader<unknown>({ apiVersion: 'example.com/v1', kind: 'Thing', read: (json) => json })

/** Objects in the encoding of servers, with members in any order. */
const thing = fc
  .record({
    metadata: fc.record({
      name: fc.stringMatching(/^[a-z0-9.-]{1,20}$/),
      namespace: fc.option(fc.stringMatching(/^[a-z0-9-]{0,20}$/)),
      resourceVersion: fc.stringMatching(/^[1-9][0-9]{0,18}$/),
      labels: fc.option(fc.dictionary(fc.string(), fc.string({ unit: 'binary' })), { nil: undefined }),
      managedFields: fc.option(fc.array(fc.jsonValue()), { nil: undefined }),
      annotations: fc.dictionary(fc.string(), fc.string({ unit: 'binary' })),
    }),
    spec: fc.jsonValue(),
    more: fc.jsonValue(),
  })
  .chain((object) => {
    const { metadata, ...rest } = object
    const shuffled = <T extends object>(value: T): fc.Arbitrary<T> =>
      fc
        .shuffledSubarray(Object.entries(value), { minLength: Object.keys(value).length })
        .map((entries) => Object.fromEntries(entries) as T)
    return shuffled(metadata).chain((meta) => shuffled({ ...rest, metadata: meta }))
  })

const indent = fc.constantFrom(undefined, 1, '\t')
const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('EncodedReader.read()', () => {
  test('reads the same key, version and type as parsing, at any position and in any layout', () => {
    fc.assert(
      fc.property(thing, indent, fc.string(), fc.string(), (object, space, before, after) => {
        const text = JSON.stringify(object, undefined, space)
        const bytes = Buffer.from(before + text + after)
        const start = Buffer.byteLength(before)
        const found = reader.read({ bytes }, start, bytes.length)
        const { name, namespace, resourceVersion, labels } = object.metadata
        expect(found?.key).toBe(namespace ? `${namespace}/${name}` : name)
        expect(found?.resourceVersion).toBe(resourceVersion)
        expect(reader.end).toBe(start + Buffer.byteLength(text))
        expect(found?.decode()).toEqual(parsed(object))
        expect(found?.labels()).toEqual(parsed(labels ?? null) ?? undefined)
      }),
    )
  })

  test('detects truncation at every byte', () => {
    fc.assert(
      fc.property(thing, fc.nat(), (object, at) => {
        const bytes = Buffer.from(JSON.stringify(object))
        expect(reader.read({ bytes }, 0, at % bytes.length)).toBeUndefined()
      }),
    )
  })

  test.each(['[]', '1', '{}', '{"metadata":null}', '{"metadata":{"name":1,"resourceVersion":"1"}}', '{"metadata":{}}'])(
    'returns undefined for %s, which must be parsed',
    (text) => {
      expect(reader.read({ bytes: Buffer.from(text) }, 0, text.length)).toBeUndefined()
    },
  )

  test('uses the declared type of an object, or else the default type', () => {
    const kinds = ['{', '{"apiVersion":"v1","kind":"Pod",', '{"kind":"Thing","apiVersion":"example.com/v1",'].map(
      (head) => {
        const bytes = Buffer.from(`${head}"metadata":{"name":"a","resourceVersion":"1"}}`)
        const { apiVersion, kind } = reader.read({ bytes }, 0, bytes.length)!.type
        return `${apiVersion} ${kind}`
      },
    )
    expect(kinds).toEqual(['example.com/v1 Thing', 'v1 Pod', 'example.com/v1 Thing'])
  })
})

describe('EncodedReader.readPage()', () => {
  test('returns the items and the list metadata', () => {
    fc.assert(
      fc.property(fc.array(thing, { maxLength: 5 }), indent, (items, space) => {
        const metadata = { resourceVersion: '7', continue: 'abc', remainingItemCount: 3 }
        const list = { kind: 'ThingList', apiVersion: 'example.com/v1', metadata, items }
        const page = reader.readPage(Buffer.from(`${JSON.stringify(list, undefined, space)}\n`))
        expect(page).toMatchObject({ resourceVersion: '7', continue: 'abc', remaining: 3 })
        expect(page?.items.map((item) => item.decode())).toEqual(parsed(items))
      }),
    )
  })

  test('returns undefined for a truncated page or an item that must be parsed', () => {
    const text = '{"items":[{"metadata":{"name":"a","resourceVersion":"1"}}],"metadata":{"resourceVersion":"1"}}'
    expect(reader.readPage(Buffer.from(text))?.items).toHaveLength(1)
    for (let at = 0; at < text.length; at++) expect(reader.readPage(Buffer.from(text.slice(0, at)))).toBeUndefined()
    expect(reader.readPage(Buffer.from(`${text}x`))).toBeUndefined()
    expect(reader.readPage(Buffer.from(text.replace('"a"', '"\\u0061"')))).toBeUndefined()
  })
})

describe('EncodedObject', () => {
  test('withoutManagedFields() removes only managedFields', () => {
    fc.assert(
      fc.property(thing, indent, (object, space) => {
        const bytes = Buffer.from(JSON.stringify(object, undefined, space))
        const { managedFields: _, ...metadata } = object.metadata
        const lean = reader.read({ bytes }, 0, bytes.length)!.withoutManagedFields()
        expect(lean.decode()).toEqual(parsed({ ...object, metadata }))
        expect(lean.key).toBe(reader.read({ bytes }, 0, bytes.length)!.key)
      }),
    )
  })

  test('decodes the same deeply frozen object after its bytes are moved', () => {
    const bytes = Buffer.from('{"metadata":{"name":"a","resourceVersion":"1"},"spec":{"é":["x"]}}')
    const object = reader.read({ bytes }, 0, bytes.length)!
    const home = { bytes: Buffer.alloc(200) }
    object.moveTo(home, 50)
    bytes.fill(0)
    expect(object.home).toBe(home)
    object.detach()
    home.bytes.fill(0)
    const { spec } = object.decode() as { spec: Record<string, unknown[]> }
    expect(spec).toEqual({ é: ['x'] })
    expect(() => spec['é']?.push('y')).toThrow(TypeError)
  })

  test.each(['x', 'é'])(
    'clone() and detach() keep the contents %j when the original is renewed or overwritten',
    (word) => {
      const encoded = (version: string) => {
        const managedFields = [{ manager: word }]
        const metadata = { labels: { word }, managedFields, name: 'a', resourceVersion: version }
        const json = { apiVersion: 'example.com/v1', kind: 'Thing', metadata, spec: { word } }
        const bytes = Buffer.from(JSON.stringify(json))
        return { bytes, json, object: reader.read({ bytes }, 0, bytes.length)! }
      }
      const [first, second] = [encoded('1'), encoded('2')]
      const copy = first.object.clone()
      copy.detach()
      copy.detach()
      first.object.renew(second.object)
      first.bytes.fill(0)
      expect(copy.decode()).toEqual(first.json)
      expect(copy.labels()).toEqual({ word })
      expect(copy.withoutManagedFields().decode()).toMatchObject({ spec: { word } })
      expect([copy.resourceVersion, first.object.resourceVersion]).toEqual(['1', '2'])
      expect(first.object.decode()).toEqual(second.object.decode())
    },
  )

  test('encode() accepts objects that had to be parsed', () => {
    const json = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a', namespace: 'n', resourceVersion: '3' } }
    const { key, resourceVersion, type } = reader.encode(json)
    expect([key, resourceVersion, type.kind, reader.encode(json).decode()]).toEqual(['n/a', '3', 'Pod', json])
    expect([reader.encode(null).key, reader.encode({ metadata: {} }).resourceVersion]).toEqual(['', ''])
  })
})

describe.each([
  ['in the usual layout', 'a', {}],
  ['with characters that are not ASCII', 'ä', {}],
  ['in another layout', 'a', { more: {} }],
])('EncodedObject.decode() of an object %s', (_, letter, more) => {
  const managedFields = [{ manager: 'kubectl', fieldsV1: { 'f:spec': { [`f:${letter}`]: {} } } }]
  const object = {
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: { labels: { a: 'b' }, managedFields, name: 'n', resourceVersion: '7' },
    spec: { list: [1] },
    status: { word: letter },
    ...more,
  }
  const encoded = () => {
    const bytes = Buffer.from(JSON.stringify(object))
    return reader.read({ bytes }, 0, bytes.length)!
  }
  const decoded = () => encoded().decode() as typeof object

  test('parses managedFields on first access and returns the same frozen value afterwards', () => {
    const { metadata } = decoded()
    expect(Object.getOwnPropertyDescriptor(metadata, 'managedFields')?.get).toBeTypeOf('function')
    expect(metadata.managedFields).toEqual(managedFields)
    expect(metadata.managedFields).toBe(metadata.managedFields)
    expect(Object.isFrozen(metadata.managedFields[0]?.fieldsV1)).toBe(true)
  })

  test('returns an object that is frozen, enumerates, copies and compares like parsed JSON', () => {
    const one = decoded()
    expect([one, one.metadata, one.metadata.labels, one.spec.list].every((part) => Object.isFrozen(part))).toBe(true)
    expect(JSON.parse(JSON.stringify(one))).toEqual(object)
    expect(structuredClone(one)).toEqual(object)
    expect(deepCopy(one)).toEqual(object)
    expect(deepEqual(one, decoded())).toBe(true)
    expect({ ...one.metadata }).toEqual(object.metadata)
    const changed = deepCopy(one)
    changed.metadata.labels.a = 'c'
    expect(changed).toEqual({ ...object, metadata: { ...object.metadata, labels: { a: 'c' } } })
  })

  test('returns an object that is printed like parsed JSON', () => {
    const { managedFields: __, ...metadata } = object.metadata
    const lean = Buffer.from(JSON.stringify({ ...object, metadata }))
    expect(inspect(reader.read({ bytes: lean }, 0, lean.length)?.decode())).toBe(inspect({ ...object, metadata }))
    expect(inspect([decoded()])).not.toContain('spec: [Getter]')
  })

  test('reads managedFields after the bytes have moved or changed', () => {
    const source = encoded()
    const { metadata } = source.decode() as typeof object
    source.home.bytes.fill(0)
    expect(metadata.managedFields).toEqual(managedFields)
  })

  test('keeps managedFields that the type reads while it converts the object', () => {
    const copying = new EncodedReader<unknown>({
      apiVersion: 'example.com/v1',
      kind: 'Thing',
      read: (json) => ({ ...(json as object), metadata: { ...(json as typeof object).metadata } }),
    })
    const bytes = Buffer.from(JSON.stringify(object))
    expect(copying.read({ bytes }, 0, bytes.length)?.decode()).toEqual(object)
  })
})

describe('EncodedObject.decode() of the usual layout', () => {
  const text = (tail: string): string =>
    `{"kind":"Thing","apiVersion":"example.com/v1","metadata":{"name":"a","resourceVersion":"1"}${tail}}`
  const decoded = (json: string): Record<string, unknown> => {
    const bytes = Buffer.from(json)
    return reader.read({ bytes }, 0, bytes.length)?.decode() as Record<string, unknown>
  }
  const getterOf = (object: object, name: string) => Object.getOwnPropertyDescriptor(object, name)?.get

  test.each(['', ',"spec":{"a":[1]}', ',"status":null', ',"spec":"x","status":{"b":{}}'])(
    'has the members of %j and parses each on first access',
    (tail) => {
      const object = decoded(text(tail))
      expect(object).toEqual(JSON.parse(text(tail)))
      for (const name of ['metadata', 'spec', 'status']) {
        expect(typeof getterOf(object, name)).toBe(name in object ? 'function' : 'undefined')
        expect(object[name]).toBe(object[name])
      }
      expect(Object.isFrozen(object)).toBe(true)
    },
  )

  test.each([
    ',"status":{},"spec":{}',
    ',"spec":{},"spec":{"b":1}',
    ',"spec": {}',
    ', "spec":{}',
    ',"spec":{} ',
    ',"data":{}',
    ',"spec":{},"metadata":{"name":"b","resourceVersion":"2"}',
  ])('parses an object with %j as a whole', (tail) => {
    const object = decoded(text(tail))
    expect(object).toEqual(JSON.parse(text(tail)))
    expect(getterOf(object, 'metadata')).toBeUndefined()
  })

  test('adds the type of its source to an object without one', () => {
    const object = decoded('{"metadata":{"name":"a","resourceVersion":"1"}}')
    expect([object.apiVersion, object.kind]).toEqual(['example.com/v1', 'Thing'])
  })
})
