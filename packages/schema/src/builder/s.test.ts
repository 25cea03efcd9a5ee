import { describe, expect, test } from 'vitest'
import { checkStructural } from '../check/check-structural.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { s } from './s.ts'
import type { Schema } from './schema.ts'

// Callers in JavaScript can pass values that the types reject; the functions must reject them too.
const untyped = s as unknown as Record<string, (...args: unknown[]) => Schema<unknown>>

describe('s', () => {
  test.each<[string, Schema<unknown, unknown>, JSONSchemaProps]>([
    [
      'string',
      s.string({ minLength: 1, maxLength: 9, pattern: /^[a-z]+$/, format: 'hostname' }),
      { format: 'hostname', maxLength: 9, minLength: 1, pattern: '^[a-z]+$', type: 'string' },
    ],
    ['enum of strings', s.enum('a', 'b'), { enum: ['a', 'b'], type: 'string' }],
    ['enum of integers', s.enum(301, 302), { enum: [301, 302], type: 'integer' }],
    ['enum of numbers', s.enum(0.5, 1), { enum: [0.5, 1], type: 'number' }],
    ['enum with options', s.enum([1, 2], { format: 'int32' }), { enum: [1, 2], format: 'int32', type: 'integer' }],
    ['literal', s.literal('x'), { enum: ['x'], type: 'string' }],
    ['literal boolean', s.literal(true), { enum: [true], type: 'boolean' }],
    [
      'int',
      s.int({ minimum: 1, exclusiveMinimum: true, multipleOf: 2, format: 'int64' }),
      { exclusiveMinimum: true, format: 'int64', minimum: 1, multipleOf: 2, type: 'integer' },
    ],
    ['number', s.number({ format: 'double', maximum: 0.5 }), { format: 'double', maximum: 0.5, type: 'number' }],
    ['bool', s.bool(), { type: 'boolean' }],
    [
      'set',
      s.array(s.string(), { listType: 'set', minItems: 1 }),
      { items: { type: 'string' }, minItems: 1, type: 'array', 'x-kubernetes-list-type': 'set' },
    ],
    [
      'list map',
      s.array(s.object({ name: s.string() }), { listType: 'map', keys: ['name'] }),
      {
        items: { properties: { name: { type: 'string' } }, required: ['name'], type: 'object' },
        type: 'array',
        'x-kubernetes-list-map-keys': ['name'],
        'x-kubernetes-list-type': 'map',
      },
    ],
    [
      'map',
      s.map(s.int(), { maxProperties: 3, mapType: 'atomic' }),
      {
        additionalProperties: { type: 'integer' },
        maxProperties: 3,
        type: 'object',
        'x-kubernetes-map-type': 'atomic',
      },
    ],
    [
      'object',
      s.object({ b: s.string(), a: s.int(), c: s.bool().optional(), d: s.string().default('x') }, { minProperties: 1 }),
      {
        minProperties: 1,
        properties: {
          a: { type: 'integer' },
          b: { type: 'string' },
          c: { type: 'boolean' },
          d: { default: 'x', type: 'string' },
        },
        required: ['a', 'b'],
        type: 'object',
      },
    ],
    ['empty object', s.object({}), { type: 'object' }],
    [
      'open object',
      s.object({}, { preserveUnknownFields: true, required: ['z'] }),
      { required: ['z'], type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    ],
    [
      'required default',
      s.object({ a: s.string().default('x') }, { required: ['a'] }),
      { properties: { a: { default: 'x', type: 'string' } }, required: ['a'], type: 'object' },
    ],
    [
      'int or string',
      s.intOrString({ pattern: '%$' }),
      { anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '%$', 'x-kubernetes-int-or-string': true },
    ],
    [
      'int or string with arms',
      s.intOrString({ anyOf: [{ minimum: 1 }, { pattern: '%$' }] }),
      {
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { anyOf: [{ minimum: 1 }, { pattern: '%$' }] }],
        'x-kubernetes-int-or-string': true,
      },
    ],
    ['json', s.json(), { 'x-kubernetes-preserve-unknown-fields': true }],
    [
      'embedded resource',
      s.embeddedResource(),
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    ],
    ['time', s.time(), { format: 'date-time', type: 'string' }],
    ['micro time', s.microTime(), { format: 'date-time', type: 'string' }],
    ['duration', s.duration(), { format: 'duration', type: 'string' }],
    ['bytes', s.bytes(), { format: 'byte', type: 'string' }],
    [
      'combinations',
      s.string({ not: { enum: ['x'] }, anyOf: [{ pattern: /^a/i }, { maxLength: 3 }] }),
      { anyOf: [{ pattern: '(?i)^a' }, { maxLength: 3 }], not: { enum: ['x'] }, type: 'string' },
    ],
    [
      'methods',
      s.string().nullable().describe('d').title('t').example('e').default('f'),
      { default: 'f', description: 'd', example: 'e', nullable: true, title: 't', type: 'string' },
    ],
    [
      'rules',
      s.string().rule('self == oldSelf', 'is immutable').rule('size(self) > 1', { reason: 'FieldValueInvalid' }),
      {
        type: 'string',
        'x-kubernetes-validations': [
          { rule: 'self == oldSelf', message: 'is immutable' },
          { rule: 'size(self) > 1', reason: 'FieldValueInvalid' },
        ],
      },
    ],
  ])('%s emits the schema of the CRD, with sorted keys', (_, schema, json) => {
    expect(JSON.stringify(schema.json)).toBe(JSON.stringify(json))
    expect(checkStructural({ type: 'object', properties: { field: schema.json } })).toEqual([])
  })

  test.each([
    s.quantity(),
    s.conditions('Ready'),
    s.labelSelector(),
    s.objectReference(),
    s.localObjectReference(),
    s.secretKeySelector(),
    s.configMapKeySelector(),
  ])('well-known types are valid in a CRD', (schema) => {
    expect(checkStructural({ type: 'object', properties: { field: schema.json } })).toEqual([])
  })

  test('quantity writes int-or-string and the pattern like controller-gen', () => {
    expect(s.quantity().json).toMatchObject({
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: expect.stringContaining('[KMGTPE]i'),
      'x-kubernetes-int-or-string': true,
    })
  })

  test('conditions is a list map by type with the constraints of metav1.Condition', () => {
    const json = s.conditions('Ready').json
    expect(json).toMatchObject({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })
    expect(json.items?.required).toEqual(['lastTransitionTime', 'message', 'reason', 'status', 'type'])
    expect(json.items?.properties?.['status']?.enum).toEqual(['True', 'False', 'Unknown'])
  })

  test('references are atomic, and their names default to the empty string', () => {
    for (const schema of [s.localObjectReference(), s.secretKeySelector(), s.configMapKeySelector()]) {
      expect(schema.json).toMatchObject({ properties: { name: { default: '' } }, 'x-kubernetes-map-type': 'atomic' })
    }
    expect(s.objectReference().json['x-kubernetes-map-type']).toBe('atomic')
    expect(s.labelSelector().json['x-kubernetes-map-type']).toBe('atomic')
  })

  test('groups of exclusive fields become CEL rules that name them', () => {
    const fields = { 'a-b': s.string().optional(), in: s.string().optional(), c__d: s.string().optional() }
    const schema = s.object(fields, {
      exactlyOneOf: ['a-b', 'in'],
      atMostOneOf: ['in', 'c__d'],
      atLeastOneOf: ['a-b', 'in'],
    })
    expect(checkStructural({ type: 'object', properties: { field: schema.json } })).toEqual([])
    expect(schema.json['x-kubernetes-validations']).toEqual([
      {
        rule: '(has(self.__in__)?1:0)+(has(self.c__underscores__d)?1:0) <= 1',
        message: 'at most one of the fields in [in c__d] may be set',
      },
      {
        rule: '(has(self.a__dash__b)?1:0)+(has(self.__in__)?1:0) == 1',
        message: 'exactly one of the fields in [a-b in] must be set',
      },
      {
        rule: 'has(self.a__dash__b)||has(self.__in__)',
        message: 'at least one of the fields in [a-b in] must be set',
      },
    ])
  })

  test('schemas are immutable values: methods return new ones, and JSON is deeply frozen', () => {
    const value = { a: [1] }
    const base = s.object({ a: s.array(s.int()) })
    const schema = base.default(value)
    value.a.push(2)
    expect(base.json.default).toBeUndefined()
    expect(base.presence).toBe('required')
    expect(schema.presence).toBe('defaulted')
    expect(schema.json.default).toEqual({ a: [1] })
    expect(() => (schema.json.default as { a: number[] }).a.push(3)).toThrow(TypeError)
    expect(Object.isFrozen(schema.json.properties?.['a']?.items)).toBe(true)
  })

  test('chained methods keep a field optional', () => {
    const schema = s.object({ a: s.string().optional().describe('x').rule('true'), b: s.int().default(1).title('t') })
    expect(schema.json.required).toBeUndefined()
  })

  test('a field may have the name of a property of Object.prototype', () => {
    const fields = Object.fromEntries([['__proto__', s.string()] as const])
    const schema = s.object({ constructor: s.int().optional(), ...{ toString: s.string() } })
    expect(Object.keys(s.object(fields).json.properties ?? {})).toEqual(['__proto__'])
    expect(schema.json.required).toEqual(['toString'])
  })

  test('an object default may rely on the defaults of its fields', () => {
    const probe = s.object({ seconds: s.int().default(5), path: s.string().optional() })
    expect(probe.default({}).json.default).toEqual({})
    expect(s.object({ probe }).json.properties?.['probe']?.default).toBeUndefined()
    const sized = s.object({ a: s.int().default(1) }, { minProperties: 1 })
    expect(sized.default({}).json.default).toEqual({})
  })

  test.each<[string, () => unknown, string]>([
    ['a default of another type', () => untyped.int!().default('x'), 'default must be an integer'],
    ['a default below the minimum', () => s.int({ minimum: 3 }).default(1), 'must not be below the minimum 3'],
    ['a default above the maximum', () => s.int({ maximum: 3 }).default(4), 'must not be above the maximum 3'],
    ['a default that is too short', () => s.string({ minLength: 1 }).default(''), 'smaller than minLength 1'],
    ['a default that is not in the enum', () => untyped.enum!('a', 'b').default('c'), 'must be one of "a", "b"'],
    [
      'a nested default',
      () => untyped.array!(s.object({ a: s.int() })).default([{ a: 'x' }]),
      'default[0].a must be an integer',
    ],
    [
      'a default without a required field',
      () => untyped.object!({ a: s.int() }).default({}),
      'default.a is missing, but required',
    ],
    [
      'a default with unknown fields',
      () => untyped.object!({}).default({ a: 1 }),
      'default.a is not a field of the schema',
    ],
    ['null as default', () => untyped.string!().default(null), 'a CRD cannot have the default null'],
    ['optional after default', () => s.int().default(1).optional(), 'drop .optional()'],
    ['an optional item', () => untyped.array!(s.string().optional()), 'drop .optional() from the item'],
    ['an optional map value', () => untyped.map!(s.string().optional()), 'drop .optional() from the value'],
    ['a nullable enum', () => s.enum('a').nullable(), 'never accepts null for an enum'],
    ['an empty enum', () => untyped.enum!([]), 'needs at least one value'],
    ['a repeated enum value', () => s.enum('a', 'a'), 'values must be unique'],
    ['a mixed enum', () => untyped.enum!('a', 1), 'all strings or all numbers'],
    ['a set of objects', () => s.array(s.object({ a: s.string() }), { listType: 'set' }), "mapType: 'atomic'"],
    ['a set of sets', () => s.array(s.array(s.string(), { listType: 'set' }), { listType: 'set' }), 'must be atomic'],
    ['a set of nullable items', () => s.array(s.string().nullable(), { listType: 'set' }), 'cannot be nullable'],
    ['a list map without keys', () => untyped.array!(s.object({}), { listType: 'map' }), 'requires keys'],
    [
      'a list map of strings',
      () => untyped.array!(s.string(), { listType: 'map', keys: ['a'] }),
      'items must be objects',
    ],
    [
      'an unknown key',
      () => untyped.array!(s.object({}), { listType: 'map', keys: ['a'] }),
      'key "a" is not a field of the item',
    ],
    [
      'an optional key',
      () => untyped.array!(s.object({ a: s.string().optional() }), { listType: 'map', keys: ['a'] }),
      'must have a default or be a required field',
    ],
    ['keys of a plain list', () => untyped.array!(s.object({}), { keys: ['a'] }), "keys require listType: 'map'"],
    ['a bad pattern', () => s.string({ pattern: '(' }), 'missing closing ): `(`'],
    ['look-around', () => s.string({ pattern: /a(?=b)/ }), 'RE2, which has no look-around'],
    ['an unsupported flag', () => s.string({ pattern: /a/g }), 'has the flag "g", which a CRD cannot express'],
    ['an unknown format', () => untyped.string!({ format: 'hostnam' }), 'does not check format "hostnam"'],
    ['a format of numbers on a string', () => untyped.string!({ format: 'int32' }), 'does not check format "int32"'],
    ['crossed bounds', () => s.string({ minLength: 3, maxLength: 2 }), 'minLength 3 is greater than maxLength 2'],
    ['a negative size', () => s.array(s.int(), { minItems: -1 }), 'minItems must be a non-negative integer'],
    ['an infinite bound', () => s.int({ maximum: Number.POSITIVE_INFINITY }), 'maximum must be a finite number'],
    ['a multiple of zero', () => s.int({ multipleOf: 0 }), 'multipleOf must be greater than 0'],
    ['an unknown option', () => untyped.array!(s.int(), { uniqueItems: true }), 'unknown option "uniqueItems"'],
    ['no arms', () => s.string({ anyOf: [] }), 'anyOf requires at least one arm'],
    ['a schema as arm', () => untyped.string!({ anyOf: [s.string()] }), 'an arm only validates'],
    ['a type in an arm', () => untyped.string!({ not: { type: 'string' } }), 'unknown option "type"'],
    ['a field that is not a schema', () => untyped.object!({ a: 'string' }), 'field "a" is not a schema of s'],
    ['an optional required field', () => s.object({ a: s.int().optional() }, { required: ['a'] }), 'drop .optional()'],
    ['an unknown required field', () => s.object({}, { required: ['a'] }), 'required lists "a", which is not a field'],
    ['a group of one', () => s.object({ a: s.int().optional() }, { exactlyOneOf: ['a'] }), 'at least two fields'],
    [
      'a group with a required field',
      () => untyped.object!({ a: s.int(), b: s.int().optional() }, { atMostOneOf: ['b', 'a'] }),
      'lists "a", which is not optional',
    ],
    [
      'a group with a field that CEL cannot refer to',
      () => s.object({ ä: s.int().optional(), b: s.int().optional() }, { atMostOneOf: ['ä', 'b'] }),
      'CEL cannot refer to a field of this name',
    ],
    ['an empty rule', () => s.string().rule(' '), 'the CEL expression must not be empty'],
    ['an empty message', () => s.string().rule('true', ''), 'message must be non-empty if specified'],
    ['a message of two lines', () => s.string().rule('true', 'a\nb'), 'message must not contain line breaks'],
    [
      'a long rule without message',
      () => s.string().rule('true\n&& true'),
      'message must be specified if rule contains line breaks',
    ],
    [
      'an unknown field path',
      () => s.object({ a: s.int() }).rule('true', { fieldPath: "['b']" }),
      'must refer to a field below',
    ],
    ['a default in raw', () => s.raw<string>({ type: 'string', default: 'x' }), 'call .default() instead'],
  ])('rejects %s', (_, build, message) => {
    expect(build).toThrow(message)
  })
})

describe('default()', () => {
  const limits = s.object({ low: s.int().default(5), high: s.int().optional() })

  test('rejects a default that violates a rule, in either order', () => {
    const problem = 'Cannot set default {}: a rule rejects it ('
    expect(() => limits.rule('self.low < self.high').default({})).toThrow(problem)
    expect(() => limits.default({}).rule('self.low > 5', 'must be above 5')).toThrow(`${problem}must be above 5)`)
  })

  test('accepts a default that satisfies the rules', () => {
    const guarded = limits.rule('!has(self.high) || self.low < self.high').default({})
    expect(guarded.json.default).toEqual({})
    expect(limits.rule('self == oldSelf').default({}).json.default).toEqual({})
  })
})
