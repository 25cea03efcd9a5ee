import { describe, expect, test } from 'vitest'
import { required } from '../field/field-error.ts'
import { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { compileSchema } from './compile-schema.ts'

type Json = Record<string, unknown>

function object(properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps {
  return { type: 'object', properties, ...more }
}

function errorsOf(schema: JSONSchemaProps, value: unknown): string[] {
  return compileSchema(object({ f: schema }))
    .validate({ f: value })
    .map(String)
}

describe('StructuralSchema.validate() reports keywords like kube-openapi', () => {
  test.each<[string, JSONSchemaProps, unknown, string[]]>([
    ['null', { type: 'string' }, null, ['f: Invalid value: "null": f in body must be of type string: "null"']],
    [
      'a wrong type with a format',
      { type: 'string', format: 'date' },
      5,
      ['f: Invalid value: "int64": f in body must be of type date: "int64"'],
    ],
    [
      'a wrong type with an unknown format',
      { type: 'string', format: 'odd' },
      true,
      ['f: Invalid value: "boolean": f in body must be of type string: "boolean"'],
    ],
    ['nothing for a list where a format is expected', { type: 'string', format: 'date' }, ['x'], []],
    [
      'a float for an integer',
      { type: 'integer' },
      1.5,
      ['f: Invalid value: "number": f in body must be of type integer: "number"'],
    ],
    ['nothing for a float within 1e-9 of an integer', { type: 'integer' }, 1.0000000001, []],
    [
      'an integer beyond 2^63 as a float',
      { type: 'integer' },
      1e20,
      ['f: Invalid value: "number": f in body must be of type integer: "number"'],
    ],
    [
      'a float with Go notation',
      { type: 'number', maximum: 5 },
      1234567.5,
      ['f: Invalid value: 1.2345675e+06: f in body should be less than or equal to 5'],
    ],
    [
      'a truncated bound for integers',
      { type: 'integer', maximum: 10.5 },
      11,
      ['f: Invalid value: 11: f in body should be less than or equal to 10'],
    ],
    [
      'an exact bound for floats',
      { type: 'number', maximum: 10.5 },
      10.75,
      ['f: Invalid value: 10.75: f in body should be less than or equal to 10.5'],
    ],
    [
      'integers beyond 2^53',
      { type: 'integer', minimum: 0 },
      -9007199254740993n,
      ['f: Invalid value: -9007199254740993: f in body should be greater than or equal to 0'],
    ],
    [
      'a factor below one against an integer',
      { type: 'number', multipleOf: 0.5 },
      2,
      ['f: Invalid value: 0: factor MultipleOf declared for f must be positive: 0'],
    ],
    [
      'a factor below one against a float',
      { type: 'number', multipleOf: 0.5 },
      2.25,
      ['f: Invalid value: 2.25: f in body should be a multiple of 0.5'],
    ],
    [
      'too few and too many fields',
      object({}, { minProperties: 2, maxProperties: 0 }),
      { a: 1 },
      ['f: Invalid value: 1: f in body should have at least 2 properties', 'f: Too many: 1: must have at most 0 items'],
    ],
    [
      'too few and too many items',
      { type: 'array', minItems: 2, maxItems: 0, items: { type: 'integer' } },
      [1],
      ['f: Invalid value: 1: f in body should have at least 2 items', 'f: Too many: 1: must have at most 0 items'],
    ],
    [
      'an enumeration of several types',
      { type: 'string', enum: ['a', 1, null, { b: 2 }] },
      'x',
      ['f: Unsupported value: "x": supported values: "a", "1", "null", "{\\"b\\":2}"'],
    ],
    ['nothing for a float that truncates to an enumerated integer', { type: 'number', enum: [1] }, 1.5, []],
    [
      'a property that is not allowed',
      { type: 'object', additionalProperties: false },
      { a: 1 },
      ['f: Invalid value: "a": f.a in body is a forbidden property'],
    ],
    [
      'the branch of anyOf with the most matches',
      {
        type: 'object',
        properties: { a: { type: 'string' } },
        anyOf: [{ required: ['b'] }, { properties: { a: { maxLength: 1 } }, required: ['a'] }],
      },
      { a: 'xx' },
      [
        '<nil>: Invalid value: "": "f" must validate at least one schema (anyOf)',
        'f.a: Too long: may not be more than 1 byte',
      ],
    ],
    [
      'oneOf with several valid branches',
      { type: 'string', oneOf: [{ minLength: 1 }, { maxLength: 5 }] },
      'x',
      ['<nil>: Invalid value: "": "f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      'allOf without a valid branch',
      { type: 'string', allOf: [{ minLength: 2 }, { pattern: '^y' }] },
      'x',
      [
        'f: Invalid value: "x": f in body should be at least 2 chars long',
        'f: Invalid value: "x": f in body should match \'^y\'',
        '<nil>: Invalid value: "": "f" must validate all the schemas (allOf). None validated',
      ],
    ],
    [
      'not',
      { type: 'string', not: { pattern: '^x' } },
      'x',
      ['<nil>: Invalid value: "": "f" must not validate the schema (not)'],
    ],
    ['length in code points', { type: 'string', maxLength: 2 }, '😀😀', []],
    [
      'a map key that contains dots',
      { type: 'object', additionalProperties: { type: 'integer' } },
      { 'a.b/c': 'x' },
      ['f.a.b/c: Invalid value: "string": f.a.b/c in body must be of type integer: "string"'],
    ],
  ])('%s', (_, schema, value, expected) => {
    expect(errorsOf(schema, value)).toEqual(expected)
  })

  test('below a given path', () => {
    const schema = compileSchema({ type: 'array', items: { type: 'string' } }, { resource: false })
    expect(schema.validate([1], { path: FieldPath.of('status') }).map(String)).toEqual([
      'status.[0]: Invalid value: "integer": [0] in body must be of type string: "integer"',
    ])
    expect(schema.validate(5, { path: FieldPath.of('status') }).map(String)).toEqual([
      'status: Invalid value: "integer":  in body must be of type array: "integer"',
    ])
  })
})

describe('StructuralSchema.validate() checks list types', () => {
  test.each<[string, JSONSchemaProps, unknown, string[]]>([
    [
      'reports each repeated scalar once',
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      ['a', 'b', 'a', 'a'],
      ['f[2]: Duplicate value: "a"'],
    ],
    [
      'compares objects by content',
      {
        type: 'array',
        items: object({}, { 'x-kubernetes-preserve-unknown-fields': true }),
        'x-kubernetes-list-type': 'set',
      },
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      ['f[1]: Duplicate value: {"a":1,"b":2}'],
    ],
    [
      'one key',
      {
        type: 'array',
        items: object({ k: { type: 'string' } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
      [{ k: 'a' }, { k: 'a', v: 1 }],
      ['f[1]: Duplicate value: {"k":"a"}'],
    ],
    [
      'no key',
      {
        type: 'array',
        items: object({ k: { type: 'string' } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
      },
      [{}, {}],
      ['f[1]: Duplicate value: {}'],
    ],
    [
      'two keys',
      {
        type: 'array',
        items: object({ a: { type: 'string' }, b: { type: 'string' } }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'b'],
      },
      [
        { a: 'x', b: 'y' },
        { a: 'x', b: 'z' },
        { a: 'x', b: 'y' },
      ],
      ['f[2]: Duplicate value: {"a":"x","b":"y"}'],
    ],
    [
      'checks lists within maps',
      {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
      },
      { m: [1, 1] },
      ['f[m][1]: Duplicate value: 1'],
    ],
  ])('%s', (_, schema, value, expected) => {
    expect(errorsOf(schema, value)).toEqual(expected)
  })

  test('ignores duplicates that existed before', () => {
    const schema = compileSchema(
      object({ f: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' } }),
    )
    expect(schema.validateUpdate({ f: ['a', 'a', 'b'] }, { f: ['c', 'c'] })).toEqual([])
    expect(schema.validateUpdate({ f: ['a', 'a'] }, { f: ['a'] }).map(String)).toEqual(['f[1]: Duplicate value: "a"'])
  })
})

describe('embedded resources', () => {
  const schema = compileSchema(
    object({
      e: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    }),
  )

  test.each<[unknown, string[]]>([
    [{ apiVersion: 'v1', kind: 'Pod' }, []],
    [{}, ['e.apiVersion: Required value', 'e.kind: Required value']],
    [
      { apiVersion: 'a/b/c', kind: '' },
      [
        'e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
        'e.kind: Invalid value: "": must not be empty',
      ],
    ],
    [
      { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a/b', labels: { 'x y': 'z' } } },
      [
        `e.metadata.name: Invalid value: "a/b": may not contain '/'`,
        `e.metadata.labels: Invalid value: "x y": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`,
      ],
    ],
    [
      { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 1 } } },
      [
        'e.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
      ],
    ],
  ])('%j has its metadata validated', (value, expected) => {
    expect(schema.validate({ e: value }).map(String)).toEqual(expected)
  })

  test('coerceMetadata() drops unknown and empty fields', () => {
    const value = {
      e: {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: {
          name: 'x',
          nosuch: 1,
          labels: {},
          creationTimestamp: null,
          deletionTimestamp: '2020-01-01T01:00:00+01:00',
          ownerReferences: [{ name: 'o', odd: 1 }],
        },
      },
    }
    const result = schema.coerceMetadata(value)
    expect(result).toEqual({ error: undefined, unknown: ['e.metadata.nosuch', 'e.metadata.ownerReferences[0].odd'] })
    expect(value.e.metadata).toEqual({
      name: 'x',
      deletionTimestamp: '2020-01-01T00:00:00Z',
      ownerReferences: [{ apiVersion: '', kind: '', name: 'o', uid: '' }],
    })
  })

  test('coerceMetadata() fails at malformed fields, or drops them', () => {
    const value = (): Json => ({ e: { apiVersion: 1, kind: 'Pod', metadata: { name: 5, namespace: 'n' } } })
    expect(String(schema.coerceMetadata(value()).error)).toBe('e.apiVersion: Invalid value: 1: must be a string')
    const dropped = value()
    expect(schema.coerceMetadata(dropped, { dropInvalid: true })).toEqual({ error: undefined, unknown: [] })
    expect(dropped).toEqual({ e: { kind: 'Pod', metadata: { namespace: 'n' } } })
  })

  test('prune() keeps their type and object metadata', () => {
    const strict = compileSchema(
      object({ e: object({ spec: object({ a: { type: 'integer' } }) }, { 'x-kubernetes-embedded-resource': true }) }),
    )
    const value = { e: { apiVersion: 'v1', kind: 'Pod', metadata: { x: 1 }, spec: { a: 1, b: 2 }, c: 3 } }
    expect(strict.prune(value)).toEqual(['e.c', 'e.spec.b'])
    expect(value).toEqual({ e: { apiVersion: 'v1', kind: 'Pod', metadata: { x: 1 }, spec: { a: 1 } } })
  })
})

describe('StructuralSchema.prune()', () => {
  test('empties objects in maps whose values have no schema', () => {
    const schema = compileSchema(object({ m: { type: 'object', additionalProperties: true } }))
    const value = { m: { a: { b: 1 }, c: 2 } }
    expect(schema.prune(value)).toEqual(['m.a.b'])
    expect(value).toEqual({ m: { a: {}, c: 2 } })
  })

  test('prunes below specified fields inside preserved ones', () => {
    const schema = compileSchema(
      object({
        p: object({ known: object({ a: { type: 'string' } }) }, { 'x-kubernetes-preserve-unknown-fields': true }),
      }),
    )
    const value = { p: { free: { x: 1 }, known: { a: 'a', b: 'b' } } }
    expect(schema.prune(value)).toEqual(['p.known.b'])
    expect(value).toEqual({ p: { free: { x: 1 }, known: { a: 'a' } } })
  })

  test('does not treat inherited properties as fields', () => {
    const schema = compileSchema(object({ a: { type: 'string' } }))
    const value = JSON.parse('{"a":"x","constructor":1,"__proto__":2}') as Json
    expect(schema.prune(value)).toEqual(['__proto__', 'constructor'])
    expect(Object.keys(value)).toEqual(['a'])
  })
})

describe('StructuralSchema.default()', () => {
  test('replaces nulls that are not allowed and keeps those that are', () => {
    const schema = compileSchema(
      object({
        a: { type: 'string', default: 'x' },
        b: { type: 'string', default: 'x', nullable: true },
        list: { type: 'array', items: { type: 'integer', default: 7 } },
        map: { type: 'object', additionalProperties: object({ c: { type: 'integer', default: 1 } }) },
        gone: { type: 'string' },
      }),
    )
    const value = { a: null, b: null, list: [null, 1], map: { k: {} }, gone: null }
    schema.dropNulls(value)
    schema.default(value)
    expect(value).toEqual({ a: 'x', b: null, list: [7, 1], map: { k: { c: 1 } } })
  })
})

describe('rules', () => {
  const rule = (expression: string, more: object = {}): JSONSchemaProps => ({
    'x-kubernetes-validations': [{ rule: expression, ...more }],
  })

  test.each<[string, JSONSchemaProps, unknown, string[]]>([
    [
      'omit objects from the error',
      object({ a: { type: 'integer' } }, rule('self.a > 5')),
      { a: 1 },
      ['f: Invalid value: failed rule: self.a > 5'],
    ],
    [
      'include scalars in the error',
      { type: 'integer', ...rule('self > 5', { message: ' too small ' }) },
      1,
      ['f: Invalid value: 1: too small'],
    ],
    [
      'use the reason',
      { type: 'integer', ...rule('self > 5', { message: 'm', reason: 'FieldValueForbidden' }) },
      1,
      ['f: Forbidden: m'],
    ],
    [
      'use the reason FieldValueDuplicate',
      { type: 'integer', ...rule('self > 5', { message: 'm', reason: 'FieldValueDuplicate' }) },
      1,
      ['f: Duplicate value: 1'],
    ],
    [
      'use the field path',
      object(
        { a: object({ 'b-c': { type: 'integer' } }) },
        rule('self.a.b__dash__c > 5', { fieldPath: ".a['b-c']", message: 'm' }),
      ),
      { a: { 'b-c': 1 } },
      ['f.a.b-c: Invalid value: m'],
    ],
    [
      'use the message expression',
      { type: 'integer', ...rule('self > 5', { messageExpression: "'got ' + string(self)" }) },
      1,
      ['f: Invalid value: 1: got 1'],
    ],
    [
      'use the default if the message contains line breaks',
      { type: 'integer', ...rule('self > 5', { messageExpression: "'a\\nb'", message: 'm' }) },
      1,
      ['f: Invalid value: 1: m'],
    ],
    [
      'report failing evaluations',
      { type: 'array', items: { type: 'integer' }, ...rule('self[3] == 1') },
      [1],
      ['f: Invalid value: "array": index out of bounds: 3 evaluating rule: self[3] == 1'],
    ],
    [
      'apply to items',
      { type: 'array', items: { type: 'integer', ...rule('self < 2') } },
      [1, 2, 3],
      ['f[1]: Invalid value: 2: failed rule: self < 2', 'f[2]: Invalid value: 3: failed rule: self < 2'],
    ],
    [
      'apply to map values',
      { type: 'object', additionalProperties: { type: 'integer', ...rule('self < 2') } },
      { a: 1, b: 2 },
      ['f[b]: Invalid value: 2: failed rule: self < 2'],
    ],
    ['do not run on nulls', { type: 'integer', nullable: true, ...rule('self < 2') }, null, []],
    [
      'do not run on objects of the wrong shape',
      { type: 'integer', ...rule('self < 2') },
      'x',
      [
        'f: Invalid value: "string": f in body must be of type integer: "string"',
        '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ],
    ],
  ])('%s', (_, schema, value, expected) => {
    expect(errorsOf(schema, value)).toEqual(expected)
  })

  test('are skipped after errors that make their evaluation unsafe', () => {
    const schema = compileSchema(object({ f: { type: 'integer', ...rule('self < 2') } }))
    const preceding = [required(FieldPath.of('metadata', 'name'))]
    expect(schema.validate({ f: 5 }, { preceding }).map((error) => error.detail)).toEqual([
      'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ])
  })

  test('with oldSelf run only if there is an old value, unless it is optional', () => {
    const transition = compileSchema(object({ f: { type: 'integer', ...rule('self >= oldSelf') } }))
    expect(transition.validate({ f: 1 })).toEqual([])
    expect(transition.validateUpdate({ f: 1 }, {})).toEqual([])
    expect(transition.validateUpdate({ f: 1 }, { f: 2 }).map(String)).toEqual([
      'f: Invalid value: 1: failed rule: self >= oldSelf',
    ])
    const optional = rule('oldSelf.hasValue() || self < 5', { optionalOldSelf: true })
    const either = compileSchema(object({ f: { type: 'integer', ...optional } }))
    expect(either.validate({ f: 9 })).toHaveLength(1)
    expect(either.validateUpdate({ f: 9 }, { f: 8 })).toEqual([])
  })

  test('correlate list items with old ones by key only', () => {
    const items = object({ k: { type: 'string' }, v: { type: 'integer', ...rule('self >= oldSelf') } })
    const list: JSONSchemaProps = { type: 'array', items }
    const byKey = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }
    const update = (schema: JSONSchemaProps): string[] =>
      compileSchema(object({ f: schema }))
        .validateUpdate(
          {
            f: [
              { k: 'b', v: 1 },
              { k: 'a', v: 0 },
            ],
          },
          {
            f: [
              { k: 'a', v: 5 },
              { k: 'c', v: 9 },
            ],
          },
        )
        .map(String)
    expect(update({ ...list, ...byKey })).toEqual(['f[1].v: Invalid value: 0: failed rule: self >= oldSelf'])
    expect(update(list)).toEqual([])
  })

  test('ignore unchanged values, with a warning', () => {
    const schema = compileSchema(object({ f: { type: 'integer', ...rule('self < 2', { messageExpression: "'no'" }) } }))
    const warnings: string[] = []
    const onWarning = (text: string): void => {
      warnings.push(text)
    }
    expect(schema.validateUpdate({ f: 5 }, { f: 5 }, { onWarning })).toEqual([])
    expect(warnings).toEqual(['f: Invalid value: 5: no'])
    expect(schema.validateUpdate({ f: 6 }, { f: 5 }, { onWarning })).toHaveLength(1)
  })

  test('stop when the budget of the object is exhausted', () => {
    const expensive = rule('self.all(x, self.all(y, x == y || x != y))')
    const schema = compileSchema(
      object({ f: { type: 'array', items: { type: 'array', items: { type: 'integer' }, ...expensive } } }),
    )
    const row = Array.from({ length: 300 }, (_, i) => i)
    const errors = schema.validate({ f: Array.from({ length: 40 }, () => row) })
    expect(errors.map((error) => error.detail)).toEqual([
      'validation failed due to running out of cost budget, no further validation rules will be run',
    ])
  })

  test('can access metadata.name of the resource', () => {
    const schema = compileSchema(object({}, rule("self.metadata.name == 'x'")))
    expect(schema.validate({ apiVersion: 'a/v1', kind: 'K', metadata: { name: 'x' } })).toEqual([])
    expect(schema.validate({ apiVersion: 'a/v1', kind: 'K', metadata: { name: 'y' } }).map(String)).toEqual([
      "<nil>: Invalid value: failed rule: self.metadata.name == 'x'",
    ])
  })
})

describe('compileSchema()', () => {
  test('supports recursive schemas', () => {
    const node: { type: string; properties: Record<string, JSONSchemaProps> } = { type: 'object', properties: {} }
    node.properties['next'] = node
    node.properties['n'] = { type: 'integer', default: 1 }
    const schema = compileSchema(node)
    const value = { next: { next: { n: 2, x: 1 } } }
    expect(schema.prune(value)).toEqual(['next.next.x'])
    schema.default(value)
    expect(value).toEqual({ n: 1, next: { n: 1, next: { n: 2 } } })
    expect(schema.validate({ next: { next: { n: 'x' } } }).map((error) => error.field)).toEqual(['next.next.n'])
  })
})

test('validateUpdate() reports several hundred thousand duplicates of a list', () => {
  const schema = compileSchema(
    { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
    { resource: false },
  )
  const list = Array.from({ length: 400_000 }, (_, i) => i >> 1)
  expect(schema.validateUpdate(list, [])).toHaveLength(200_000)
})
