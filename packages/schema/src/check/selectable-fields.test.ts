import { describe, expect, test } from 'vitest'
import { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { resolveSchemaPath } from '../model/rule-field-path.ts'
import { checkSelectableFields } from './selectable-fields.ts'

const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        a: { type: 'string' },
        'b.c': { type: 'integer' },
        "it's": { type: 'boolean' },
        m: { type: 'object', additionalProperties: { type: 'string' } },
        l: { type: 'array', items: { type: 'string' } },
      },
    },
  },
}

describe('resolveSchemaPath()', () => {
  test.each([
    ['.spec.a', 'spec.a'],
    ["['spec']['b.c']", 'spec.b.c'],
    [".spec['it\\'s']", "spec.it's"],
    [".spec.m['x/y']", 'spec.m[x/y]'],
    ['.spec.m.key', 'spec.m[key]'],
  ])('follows %s', (text, path) => {
    expect(resolveSchemaPath(text, schema).path.toString()).toBe(path)
  })

  test.each([
    ['spec', 'expected [ or . but got: spec'],
    ['.', 'unexpected end of JSON path'],
    ['.spec.nope', 'does not refer to a valid field'],
    ['.spec.a.b', 'does not refer to a valid field'],
    ['.spec.l[0]', 'expected single quoted string but got 0'],
    [".spec['a'", 'unexpected end of JSON path'],
    [".spec['a'.", 'expected ] but got .'],
    [".spec['\\x']", 'invalid string literal: invalid escape char \\x'],
  ])('rejects %s', (text, message) => {
    expect(() => resolveSchemaPath(text, schema)).toThrow(new Error(message))
  })
})

describe('checkSelectableFields()', () => {
  const path = FieldPath.of('selectableFields')
  test('reports paths that do not refer to a scalar', () => {
    const fields = ['.spec.a', '.spec.a', '', '.spec.m', "['spec']"].map((jsonPath) => ({ jsonPath }))
    expect(checkSelectableFields(fields, schema, path).map(String)).toEqual([
      'selectableFields[1].jsonPath: Duplicate value: ".spec.a"',
      'selectableFields[2].jsonPath: Required value',
      'selectableFields[3].jsonPath: Invalid value: ".spec.m": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      `selectableFields[4].jsonPath: Invalid value: "['spec']": is an invalid path: array notation is not allowed`,
    ])
  })

  test('allows eight fields, or more with allowTooMany', () => {
    const fields = Array.from({ length: 9 }, (_, i) => ({ jsonPath: `.spec.m.k${i}` }))
    expect(checkSelectableFields(fields, schema, path).map(String)).toEqual([
      'selectableFields: Too many: 9: must have at most 8 items',
    ])
    expect(checkSelectableFields(fields, schema, path, { allowTooMany: true })).toEqual([])
  })
})
