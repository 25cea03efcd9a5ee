import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { checkStructural, unrecognizedFormats } from './check-structural.ts'

type Cause = { readonly reason: string; readonly field: string; readonly message: string }
type Recorded = {
  readonly id: string
  readonly schema: JSONSchemaProps
  readonly status: boolean
  readonly causes: readonly Cause[]
}

// The paths of a CRD with one version: the API server reports the location in its internal type.
const path = FieldPath.of('spec', 'validation', 'openAPIV3Schema')

function causesOf(schema: JSONSchemaProps, statusSubresource = false): string[] {
  return checkStructural(schema, { path, statusSubresource })
    .map((error) => `${error.type} ${error.field}: ${error.errorBody()}`)
    .sort()
}

describe('checkStructural() reports the errors of a recorded kube-apiserver', () => {
  const recorded = JSON.parse(
    readFileSync(new URL('../testdata/crd-invalid.golden.json', import.meta.url), 'utf8'),
  ) as Recorded[]
  test.each(recorded.map((each, i) => [`${each.id} ${i}`, each] as const))('%s', (_, each) => {
    const expected = each.causes.map((cause) => `${cause.reason} ${cause.field}: ${cause.message}`).sort()
    expect(causesOf(each.schema, each.status)).toEqual(expected)
  })
})

describe('checkStructural()', () => {
  const f = `${path}.properties[f]`
  const withField = (schema: JSONSchemaProps): JSONSchemaProps => ({ type: 'object', properties: { f: schema } })

  test.each<[string, JSONSchemaProps, string[]]>([
    [
      'forbids keywords that Kubernetes does not support',
      { type: 'object', id: 'x', definitions: { a: {} }, $ref: 'r', uniqueItems: true },
      [
        `${f}.$ref: Forbidden: $ref is not supported`,
        `${f}.definitions: Forbidden: definitions is not supported`,
        `${f}.id: Forbidden: id is not supported`,
        `${f}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      ],
    ],
    [
      'reports the general error if no keyword error explains it',
      { type: 'object', $schema: 'x' },
      [`${path}: Invalid value: "": OpenAPIV3Schema 'schema' is not supported`],
    ],
    [
      'rejects rules with constants that cannot be evaluated',
      { type: 'string', maxLength: 5, 'x-kubernetes-validations': [{ rule: "self.find('[') == 'x'" }] },
      [
        `${f}.x-kubernetes-validations[0].rule: Invalid value: {"Rule":"self.find('[') == 'x'","Message":"","MessageExpression":"","Reason":null,"FieldPath":"","OptionalOldSelf":null}: program instantiation failed: error parsing regexp: missing closing ]: \`[\``,
      ],
    ],
    ['requires items', { type: 'array' }, [`${f}.items: Required value: must be specified`]],
    [
      'forbids types in junctors',
      { type: 'string', anyOf: [{ type: 'string' }] },
      [`${f}.anyOf[0].type: Forbidden: must be empty to be structural`],
    ],
    [
      'allows integer or string',
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      [],
    ],
    [
      'allows integer or string with further arms',
      {
        'x-kubernetes-int-or-string': true,
        allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: '^a' }],
      },
      [],
    ],
    [
      'forbids documentation and extensions in junctors',
      {
        type: 'object',
        not: {
          description: 'd',
          nullable: true,
          default: 1,
          'x-kubernetes-preserve-unknown-fields': true,
          'x-kubernetes-validations': [{ rule: 'true' }],
        },
      },
      [
        `${f}.not.default: Forbidden: must be undefined to be structural`,
        `${f}.not.description: Forbidden: must be empty to be structural`,
        `${f}.not.nullable: Forbidden: must be false to be structural`,
        `${f}.not.x-kubernetes-preserve-unknown-fields: Forbidden: must be false to be structural`,
        `${f}.not.x-kubernetes-validations: Forbidden: must be empty to be structural`,
      ],
    ],
    [
      'forbids metadata in junctors',
      { type: 'object', properties: { metadata: { type: 'object' } }, anyOf: [{ properties: { metadata: {} } }] },
      [`${f}.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context`],
    ],
    [
      'forbids int-or-string with other extensions',
      { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true },
      [
        `${f}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
      ],
    ],
    [
      'checks defaults of lists',
      { type: 'array', items: { type: 'integer' }, default: [1, 'x'] },
      [`${f}.default.[1]: Invalid value: "string": [1] in body must be of type integer: "string"`],
    ],
    [
      'checks defaults by rules',
      { type: 'integer', default: 1, 'x-kubernetes-validations': [{ rule: 'self > 5' }] },
      [`${f}.default: Invalid value: 1: failed rule: self > 5`],
    ],
    [
      'checks defaults in embedded metadata through the resulting metadata',
      {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { metadata: { type: 'object', properties: { name: { type: 'string', default: 'a/b' } } } },
      },
      [
        `${f}.properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain '/'`,
      ],
    ],
    [
      'requires a message for rules of several lines',
      {
        type: 'integer',
        'x-kubernetes-validations': [
          { rule: 'self >\n5' },
          { rule: 'self > 5', message: 'a\nb' },
          { rule: 'self > 5', message: ' ', messageExpression: ' ' },
        ],
      },
      [
        `${f}.x-kubernetes-validations[0].message: Required value: message must be specified if rule contains line breaks`,
        `${f}.x-kubernetes-validations[1].message: Invalid value: "a\\nb": must not contain line breaks`,
        `${f}.x-kubernetes-validations[2].message: Invalid value: " ": must be non-empty if specified`,
        `${f}.x-kubernetes-validations[2].messageExpression: Required value: messageExpression must be non-empty if specified`,
      ],
    ],
    [
      'checks the type of message expressions',
      { type: 'integer', 'x-kubernetes-validations': [{ rule: 'self > 5', messageExpression: 'self' }] },
      [
        `${f}.x-kubernetes-validations[0].messageExpression: Invalid value: {"Rule":"self \\u003e 5","Message":"","MessageExpression":"self","Reason":null,"FieldPath":"","OptionalOldSelf":null}: messageExpression must evaluate to a string`,
      ],
    ],
    [
      'multiplies the cost by the limits of enclosing lists',
      {
        type: 'array',
        maxItems: 1000,
        items: {
          type: 'array',
          maxItems: 1000,
          items: { type: 'string', maxLength: 1000, 'x-kubernetes-validations': [{ rule: "self.contains('x')" }] },
        },
      },
      [
        `${f}.items.items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
        `${f}.items.items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of 40.1x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
        `${path}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 4.0x (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`,
      ],
    ],
    ['accepts an unknown format', { type: 'string', format: 'odd' }, []],
  ])('%s', (_, schema, expected) => {
    expect(checkStructural(withField(schema), { path }).map(String).sort()).toEqual([...expected].sort())
  })

  test('requires the fields in the junctors of the root, but not those in nested junctors', () => {
    const junctors = {
      oneOf: [{ properties: { b: {} } }, { items: {} }, { properties: { a: { minLength: 1 } } }],
    }
    const properties: Record<string, JSONSchemaProps> = { a: { type: 'string' } }
    expect(checkStructural({ type: 'object', properties, ...junctors }, { path }).map(String)).toEqual([
      `${path}.items: Required value: because it is defined in ${path}.oneOf[1].items`,
      `${path}.properties[b]: Required value: because it is defined in ${path}.oneOf[0].properties[b]`,
    ])
    // As in the API server, which follows the spine of the schema from its root junctors only.
    expect(checkStructural(withField({ type: 'object', properties, ...junctors }), { path })).toEqual([])
  })

  test('restricts the root if status is a subresource', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      anyOf: [{ required: ['a'] }],
      properties: { a: { type: 'string' } },
    }
    const [error, ...rest] = checkStructural(schema, { path, statusSubresource: true })
    expect(rest).toEqual([])
    expect(error?.detail).toBe(
      'only [Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] fields are allowed at the root of the schema if the status subresource is enabled',
    )
    expect(error?.errorBody()).toContain(
      'Invalid value: {"ID":"","Schema":"","Ref":null,"Description":"","Type":"object",',
    )
    expect(checkStructural(schema, { path })).toEqual([])
  })

  test('does not enforce in an update what the stored schema violates', () => {
    const set: JSONSchemaProps = {
      type: 'array',
      items: { type: 'object', properties: {} },
      'x-kubernetes-list-type': 'set',
    }
    const odd = withField({ type: 'odd' })
    expect(checkStructural(withField(set), { path })).toHaveLength(1)
    expect(checkStructural(withField(set), { path, stored: [withField(set)] })).toEqual([])
    expect(checkStructural(odd, { path })).toHaveLength(1)
    expect(checkStructural(odd, { path, stored: [odd] })).toEqual([])
  })

  test('does not enforce the cost limit for an unchanged schema', () => {
    const schema = withField({
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-validations': [{ rule: 'self.all(x, self.exists_one(y, x == y))' }],
    })
    const perRule = (unchanged: boolean): number =>
      checkStructural(schema, { path, unchanged }).filter((error) =>
        error.detail.startsWith('estimated rule cost exceeds'),
      ).length
    expect(perRule(false)).toBe(1)
    expect(perRule(true)).toBe(0)
  })
})

describe('unrecognizedFormats()', () => {
  test('lists string formats that have no effect', () => {
    const schema: JSONSchemaProps = {
      type: 'object',
      properties: {
        a: { type: 'string', format: 'odd' },
        b: { type: 'integer', format: 'int32' },
        c: { type: 'array', items: { type: 'string', format: 'date-time' } },
      },
    }
    expect(unrecognizedFormats(schema)).toEqual(['odd'])
  })
})
