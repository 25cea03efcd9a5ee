import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { toNative } from '../values/native.ts'
import type { CelSchema } from './cel-schema.ts'
import { declareSchema } from './declared-type.ts'
import { escapeIdentifier, unescapeIdentifier } from './escape.ts'

const base = CelEnvironment.create()

function evaluate(schema: CelSchema, self: unknown, source: string, isResourceRoot = false): unknown {
  const declared = declareSchema(schema, { isResourceRoot })!
  return toNative(
    base
      .extend({ variables: { self: declared } })
      .compile(source)
      .evaluate({ self }),
  )
}

const string: CelSchema = { type: 'string' }
const object = (properties: Record<string, CelSchema>): CelSchema => ({ type: 'object', properties })

describe('declareSchema() derives the type', () => {
  test.each<[string, CelSchema, string | undefined]>([
    ['strings', string, 'string'],
    ['bytes', { type: 'string', format: 'byte' }, 'bytes'],
    ['durations', { type: 'string', format: 'duration' }, 'duration'],
    ['dates', { type: 'string', format: 'date' }, 'timestamp'],
    ['integers', { type: 'integer', format: 'int32' }, 'int'],
    ['numbers', { type: 'number' }, 'double'],
    ['int-or-strings', { 'x-kubernetes-int-or-string': true, type: 'string' }, 'dyn'],
    ['lists', { type: 'array', items: { type: 'boolean' } }, 'list(bool)'],
    ['maps', { type: 'object', additionalProperties: string }, 'map(string, string)'],
    ['objects', object({}), 'selfType'],
    ['unknown data (none)', { 'x-kubernetes-preserve-unknown-fields': true }, undefined],
    ['lists of unknown data (none)', { type: 'array', items: {} }, undefined],
  ])('%s', (_what, schema, type) => {
    expect(declareSchema(schema)?.type.toString()).toBe(type)
  })
})

describe('declareSchema() bounds sizes', () => {
  const maxOf = (schema: CelSchema): number | undefined => declareSchema(schema)?.maxElements
  test('from the schema', () => {
    expect(maxOf({ type: 'string', maxLength: 5 })).toBe(20)
    expect(maxOf({ type: 'string', enum: ['a', 'été'] })).toBe(5)
    expect(maxOf({ type: 'array', items: string, maxItems: 7 })).toBe(7)
    expect(maxOf({ type: 'object', additionalProperties: string, maxProperties: 3 })).toBe(3)
  })
  test('from the maximum request size if the schema has no bound', () => {
    expect(maxOf(string)).toBe(3145726)
    expect(maxOf({ type: 'array', items: string })).toBe(1048575)
    expect(maxOf({ type: 'array', items: { type: 'integer' } })).toBe(1572863)
    expect(maxOf({ type: 'object', additionalProperties: string })).toBe(393215)
    expect(maxOf({ type: 'array', items: { ...object({ ab: string }), required: ['ab'] } })).toBe(285975)
  })
})

test('declareSchema() omits recursive properties', () => {
  const node: { type: string; properties: Record<string, CelSchema> } = { type: 'object', properties: { name: string } }
  node.properties['child'] = node
  expect([...declareSchema(node)!.fields!.keys()]).toEqual(['name'])
})

test('a resource root always has apiVersion, kind and metadata', () => {
  const self = { apiVersion: 'v1', kind: 'K', metadata: { name: 'n', labels: { a: 'b' } }, spec: { x: 'y' } }
  const schema = object({ metadata: { type: 'object' }, spec: object({ x: string }) })
  expect(
    evaluate(
      schema,
      self,
      'self.kind + self.metadata.name + self.spec.x + string(has(self.metadata.generateName))',
      true,
    ),
  ).toBe('Knyfalse')
  expect(() => evaluate(schema, self, 'self.metadata.labels', true)).toThrow("undefined field 'labels'")
  expect(() => evaluate(schema, self, 'self.kind')).toThrow("undefined field 'kind'")
})

test('null counts as absent in properties, and as a value in lists and maps', () => {
  const schema = object({
    p: { ...string, nullable: true },
    list: { type: 'array', items: { ...string, nullable: true } },
    strict: { type: 'array', items: string },
  })
  const self = { p: null, list: [null], strict: [null] }
  expect(evaluate(schema, self, 'has(self.p)')).toBe(false)
  expect(() => evaluate(schema, self, "self.p == 'a'")).toThrow('no such key: p')
  expect(evaluate(schema, self, 'dyn(self.list[0]) == null')).toBe(true)
  expect(() => evaluate(schema, self, "self.strict[0] == 'a'")).toThrow(
    'invalid data, got null for schema with nullable=false',
  )
})

test('properties inherited from Object.prototype are absent unless the data has them', () => {
  const schema = object({
    constructor: string,
    toString: string,
    map: { type: 'object', additionalProperties: string },
  })
  const self = JSON.parse('{"toString": "x", "map": {"__proto__": "p"}}') as unknown
  expect(evaluate(schema, self, 'has(self.constructor)')).toBe(false)
  expect(evaluate(schema, self, 'self.toString')).toBe('x')
  expect(evaluate(schema, self, "'constructor' in self.map")).toBe(false)
  expect(evaluate(schema, self, "self.map['__proto__']")).toBe('p')
})

test('parses formats and rejects data that does not match the schema', () => {
  const schema = object({
    wait: { type: 'string', format: 'duration' },
    day: { type: 'string', format: 'date' },
    at: { type: 'string', format: 'date-time' },
    raw: { type: 'string', format: 'byte' },
    ratio: { type: 'number' },
    port: { 'x-kubernetes-int-or-string': true },
  })
  const self = {
    wait: '1 day 2 hours',
    day: '2024-02-29',
    at: '2024-02-29T01:00:00+01:00',
    raw: 'aGk=',
    ratio: 1,
    port: '80%',
  }
  expect(evaluate(schema, self, "self.wait == duration('26h') && self.at == self.day && size(self.raw) == 2")).toBe(
    true,
  )
  expect(evaluate(schema, self, 'type(self.ratio) == double && type(self.port) == string')).toBe(true)
  expect(() => evaluate(schema, { ratio: 'x' }, 'self.ratio > 1.0')).toThrow('invalid data, expected float, got string')
  expect(evaluate(schema, { raw: '_-8=' }, "self.raw == b'\\xff\\xef'")).toBe(true)
  const standard = 'Invalid byte formatted string a/8=: illegal base64 data at input byte 1'
  expect(() => evaluate(schema, { raw: 'a/8=' }, 'size(self.raw) == 2')).toThrow(standard)
  expect(() => evaluate(schema, { wait: 'soon' }, "self.wait > duration('1s')")).toThrow('Invalid duration soon')
})

describe('list types', () => {
  const listOf = (more: Partial<CelSchema>): CelSchema => ({ type: 'array', items: string, ...more })
  test('a set ignores the order and adds without duplicates', () => {
    const schema = object({
      a: listOf({ 'x-kubernetes-list-type': 'set' }),
      b: listOf({ 'x-kubernetes-list-type': 'set' }),
    })
    const self = { a: ['x', 'y'], b: ['y', 'x'] }
    expect(evaluate(schema, self, 'self.a == self.b')).toBe(true)
    expect(evaluate(schema, self, "self.a + ['y', 'z']")).toEqual(['x', 'y', 'z'])
  })
  test('an atomic list respects the order and keeps duplicates', () => {
    const schema = object({ a: listOf({}), b: listOf({}) })
    const self = { a: ['x', 'y'], b: ['y', 'x'] }
    expect(evaluate(schema, self, 'self.a == self.b')).toBe(false)
    expect(evaluate(schema, self, "self.a + ['y']")).toEqual(['x', 'y', 'y'])
  })
  test('a map list matches and merges elements by key', () => {
    const entry = object({ k: string, v: string })
    const list: CelSchema = {
      type: 'array',
      items: entry,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
    }
    const self = { a: [{ k: '1', v: 'x' }, { k: '2' }], b: [{ k: '2' }, { k: '1', v: 'x' }], c: [{ k: '2', v: 'new' }] }
    const schema = object({ a: list, b: list, c: list })
    expect(evaluate(schema, self, 'dyn(self.a) == self.b && dyn(self.a) != self.c')).toBe(true)
    expect(evaluate(schema, self, 'dyn(self.a) + self.c')).toEqual([
      { k: '1', v: 'x' },
      { k: '2', v: 'new' },
    ])
  })
})

test('objects compare data without a schema as JSON', () => {
  const open: CelSchema = { ...object({ known: string }), 'x-kubernetes-preserve-unknown-fields': true }
  const schema = object({ a: open, b: open })
  const same = { known: 'x', more: { deep: [1] } }
  expect(evaluate(schema, { a: same, b: structuredClone(same) }, 'dyn(self.a) == self.b')).toBe(true)
  expect(evaluate(schema, { a: same, b: { ...same, more: 1 } }, 'dyn(self.a) == self.b')).toBe(false)
})

describe('escapeIdentifier()', () => {
  test.each([
    ['a-b', 'a__dash__b'],
    ['a.b/c', 'a__dot__b__slash__c'],
    ['a__b', 'a__underscores__b'],
    ['namespace', '__namespace__'],
    ['_x', '_x'],
    ['9a', undefined],
    ['a!', undefined],
    ['', undefined],
  ])('%s -> %s', (name, escaped) => {
    expect(escapeIdentifier(name)).toBe(escaped)
  })
  test('is reversed by unescapeIdentifier()', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-zA-Z_./-][a-zA-Z0-9_./-]{0,12}$/), (name) => {
        const escaped = escapeIdentifier(name)!
        // As in Kubernetes, three or more underscores in a row are not reversible.
        if (!/___/.test(name) && !/__$|_$|^_/.test(name)) expect(unescapeIdentifier(escaped)).toBe(name)
      }),
    )
    expect(unescapeIdentifier('a__nope__b')).toBeUndefined()
  })
})
