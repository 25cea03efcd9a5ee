import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { publishSchema } from '../../packages/k8s/src/internal/publish-schema.ts'
import { SchemaTable } from '../../packages/k8s/src/internal/schema-table.ts'
import type { PublishedSchema } from './api-facts.ts'
import { writeDefinition } from './write-notation.ts'

const name = fc.stringMatching(/^[a-z][A-Za-z0-9]{0,8}$/)
const word = fc.stringMatching(/^[A-Za-z0-9/*+.-]{0,8}( [a-z]{1,5})?$/)
const listType = fc.constantFrom('atomic', 'set', 'map')

const scalar: fc.Arbitrary<PublishedSchema> = fc.oneof(
  fc.constantFrom<PublishedSchema>(
    { type: 'boolean' },
    { type: 'integer', format: 'int32', default: 0 },
    { type: 'integer', format: 'int64' },
    { type: 'number', format: 'double' },
    { type: 'string', format: 'byte' },
    { type: 'string', default: '' },
    { type: 'string', default: '/etc/ceph/keyring' },
  ),
  fc.uniqueArray(word, { minLength: 1, maxLength: 4 }).map((values) => ({ type: 'string', enum: values })),
)
const reference: PublishedSchema = { $ref: '#/components/schemas/io.k8s.api.homes.v1.Door' }
const referring = fc.constantFrom<PublishedSchema>(
  { allOf: [reference], default: {} },
  {
    allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time' }],
    'x-kubernetes-map-type': 'atomic',
  },
)
const element: fc.Arbitrary<PublishedSchema> = fc.oneof(scalar, referring, fc.constant(reference))
const list = fc
  .record(
    {
      items: element,
      'x-kubernetes-list-type': listType,
      'x-kubernetes-list-map-keys': fc.array(name, { minLength: 1, maxLength: 3 }),
      'x-kubernetes-patch-strategy': fc.constantFrom('merge', 'merge,retainKeys'),
      'x-kubernetes-patch-merge-key': name,
    },
    { requiredKeys: ['items', 'x-kubernetes-list-type', 'x-kubernetes-patch-strategy'] },
  )
  .map((schema): PublishedSchema => ({ type: 'array', ...schema }))
const map = fc.oneof(element, list).map((values): PublishedSchema => ({ type: 'object', additionalProperties: values }))
const field = fc.oneof(scalar, referring, fc.constant({ allOf: [reference] }), fc.constant(reference), list, map)

const definition = fc.dictionary(name, field, { minKeys: 1, noNullPrototype: true }).chain((properties) =>
  fc
    .record(
      {
        required: fc.subarray(Object.keys(properties), { minLength: 1 }),
        'x-kubernetes-map-type': fc.constantFrom('atomic', 'granular'),
        'x-kubernetes-group-version-kind': fc.constant([{ group: 'example.com', version: 'v1', kind: 'Home' }]),
      },
      { requiredKeys: [] },
    )
    .map((head): PublishedSchema => ({ type: 'object', properties, ...head })),
)

describe('writeDefinition()', () => {
  test('writes notation that publishSchema() reads back, for any schema of the published form', () => {
    fc.assert(
      fc.property(definition, (schema) => {
        const line = writeDefinition({ published: '', table: 'homes/v1', local: 'Home', schema })
        const table = new SchemaTable('homes/v1', line, [new SchemaTable('meta/v1', 'Time')])
        expect(publishSchema(table, 'Home', 'v3')).toEqual(schema)
      }),
    )
  })

  test.each<[string, PublishedSchema]>([
    ['a keyword that it does not know', { type: 'object', properties: { a: { oneOf: [{ type: 'string' }] } } }],
    ['a type that it has no word for', { type: 'object', properties: { a: { type: 'integer', format: 'int8' } } }],
    ['a default with a blank', { type: 'object', properties: { a: { type: 'string', default: 'a b' } } }],
    ['an enum value with an underscore', { type: 'object', properties: { a: { type: 'string', enum: ['a_b'] } } }],
  ])('rejects %s', (_, schema) => {
    expect(() => writeDefinition({ published: '', table: 'homes/v1', local: 'Home', schema })).toThrow(/notation/)
  })
})
