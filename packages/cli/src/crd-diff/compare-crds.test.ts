import type { CrdManifest } from '@kubewright/api'
import { compileSchema, type JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crdWith } from '../import/testdata/crds.ts'
import { compareCrds } from './compare-crds.ts'
import { compareSchemas } from './compare-schemas.ts'
import type { Severity } from './crd-change.ts'

/** Changes of a schema as texts: `breaking spec.x: message`. */
function changes(before: JSONSchemaProps, after: JSONSchemaProps): string[] {
  const found: string[] = []
  compareSchemas(before, after, 'x', (severity, path, message) => found.push(`${severity} ${path}: ${message}`))
  return found
}

const object = (properties: Record<string, JSONSchemaProps>, more: JSONSchemaProps = {}): JSONSchemaProps => ({
  type: 'object',
  properties,
  ...more,
})
const text: JSONSchemaProps = { type: 'string' }
const open: JSONSchemaProps = { 'x-kubernetes-preserve-unknown-fields': true }
const rules = (...all: string[]): JSONSchemaProps => ({ 'x-kubernetes-validations': all.map((rule) => ({ rule })) })

describe('compareSchemas()', () => {
  test.each<[string, JSONSchemaProps, JSONSchemaProps, string[]]>([
    ['no change for equal schemas', object({ a: text }), object({ a: text }), []],
    ['no change for a description', { ...text, description: 'a' }, { ...text, description: 'b' }, []],
    ['a new type', text, { type: 'integer' }, ['breaking x: type changed from string to integer']],
    ['a wider type', { type: 'integer' }, { type: 'number' }, ['warning x: type changed from integer to number']],
    [
      'an int or string',
      text,
      { 'x-kubernetes-int-or-string': true },
      ['warning x: type changed from string to int-or-string'],
    ],
    [
      'a removed field',
      object({ a: text }),
      object({}),
      ['breaking x.a: field removed: it is pruned from stored objects'],
    ],
    [
      'a removed field if unknown fields are preserved',
      object({ a: text }, open),
      object({}, open),
      ['warning x.a: field removed: it is preserved, but no longer validated as before'],
    ],
    ['a new field', object({}), object({ a: text }), ['safe x.a: field added']],
    [
      'a new field if unknown fields were preserved',
      object({}, open),
      object({ a: text }, open),
      ['warning x.a: field added: stored objects may contain other values in it'],
    ],
    [
      'a new required field',
      object({}),
      object({ a: text }, { required: ['a'] }),
      ['breaking x.a: required field added'],
    ],
    [
      'a new required field with a default',
      object({}),
      object({ a: { ...text, default: 'b' } }, { required: ['a'] }),
      ['safe x.a: field added'],
    ],
    [
      'a field that becomes required',
      object({ a: text }),
      object({ a: text }, { required: ['a'] }),
      ['breaking x.a: is required now'],
    ],
    [
      'a field that becomes optional',
      object({ a: text }, { required: ['a'] }),
      object({ a: text }),
      ['safe x.a: is optional now'],
    ],
    ['an enum', text, { ...text, enum: ['a'] }, ['breaking x: only "a" are allowed now']],
    ['a removed enum', { ...text, enum: ['a'] }, text, ['safe x: any value is allowed now, not only "a"']],
    [
      'values of an enum',
      { ...text, enum: ['a', 'b'] },
      { ...text, enum: ['b', 'c'] },
      ['breaking x: no longer allowed: "a"', 'safe x: allowed now: "c"'],
    ],
    [
      'a tighter bound',
      { type: 'integer', maximum: 9 },
      { type: 'integer', maximum: 5 },
      ['breaking x: maximum lowered from 9 to 5'],
    ],
    [
      'a looser bound',
      { type: 'integer', minimum: 9 },
      { type: 'integer', minimum: 5 },
      ['safe x: minimum lowered from 9 to 5'],
    ],
    ['a new bound', text, { ...text, maxLength: 5 }, ['breaking x: maxLength 5 added']],
    ['a removed bound', { ...text, maxLength: 5 }, text, ['safe x: maxLength 5 removed']],
    [
      'a bound that becomes exclusive',
      { type: 'integer', minimum: 1 },
      { type: 'integer', minimum: 1, exclusiveMinimum: true },
      ['breaking x: exclusiveMinimum added: the bound itself is no longer allowed'],
    ],
    [
      'a multiple',
      { type: 'integer', multipleOf: 6 },
      { type: 'integer', multipleOf: 3 },
      ['safe x: multipleOf changed from 6 to 3'],
    ],
    [
      'another multiple',
      { type: 'integer', multipleOf: 6 },
      { type: 'integer', multipleOf: 4 },
      ['breaking x: multipleOf changed from 6 to 4'],
    ],
    ['a pattern', { ...text, pattern: 'a' }, { ...text, pattern: 'b' }, ['breaking x: pattern changed from a to b']],
    ['a format', text, { ...text, format: 'hostname' }, ['breaking x: format added: hostname']],
    [
      'a format that servers do not check',
      text,
      { ...text, format: 'textarea' },
      ['safe x: format is now textarea, which servers do not check'],
    ],
    [
      'a wider format',
      { type: 'integer', format: 'int32' },
      { type: 'integer', format: 'int64' },
      ['safe x: format widened from int32 to int64'],
    ],
    ['a removed null', { ...text, nullable: true }, text, ['breaking x: null is no longer allowed']],
    [
      'a default',
      text,
      { ...text, default: 'a' },
      ['warning x: default "a" added: it also fills the field of stored objects'],
    ],
    [
      'another default',
      { ...text, default: 'a' },
      { ...text, default: 'b' },
      ['warning x: default changed from "a" to "b"'],
    ],
    ['a removed default', { ...text, default: 'a' }, text, ['breaking x: default "a" removed']],
    [
      'pruning',
      object({}, open),
      object({}),
      ['breaking x: unknown fields are no longer preserved: they are pruned from stored objects'],
    ],
    [
      'a rule',
      { ...text, ...rules('a') },
      { ...text, ...rules('b') },
      ['breaking x: rule added: b', 'safe x: rule removed: a'],
    ],
    ['a junctor', text, { ...text, not: { maxLength: 3 } }, ['breaking x: not added']],
    [
      'the merging of a list',
      { type: 'array', items: text },
      { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
      [
        'breaking x: list type changed from atomic to set: server-side apply merges it differently, and items must be unique',
      ],
    ],
    [
      'the keys of a list',
      {
        type: 'array',
        items: object({ a: text }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a'],
      },
      {
        type: 'array',
        items: object({ a: text }),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['a', 'b'],
      },
      ['breaking x: list map keys changed from a to a, b'],
    ],
    [
      'changes of the elements of lists and maps',
      object({ a: { type: 'array', items: text }, b: { type: 'object', additionalProperties: text } }),
      object({
        a: { type: 'array', items: { type: 'integer' } },
        b: { type: 'object', additionalProperties: { type: 'integer' } },
      }),
      ['breaking x.a[]: type changed from string to integer', 'breaking x.b{}: type changed from string to integer'],
    ],
    [
      'a map that becomes a struct',
      { type: 'object', additionalProperties: text },
      object({ a: text }),
      [
        'safe x.a: field added',
        'breaking x: arbitrary keys are no longer preserved: they are pruned from stored objects',
      ],
    ],
  ])('reports %s', (_, before, after, expected) => {
    expect(changes(before, after)).toEqual(expected)
  })

  test('reports every change that invalidates a valid value as breaking', () => {
    let compatible = 0
    fc.assert(
      fc.property(
        schemas,
        schemas,
        fc.subarray(keywords),
        fc.array(values, { minLength: 20, maxLength: 20 }),
        (before, other, changed, some) => {
          const after = mixed(before, other, changed)
          const severities: Severity[] = []
          compareSchemas(before, after, '', (severity) => severities.push(severity))
          if (severities.includes('breaking') || severities.includes('warning')) return
          compatible++
          for (const value of some) {
            const stored = storedAs(before, value)
            if (isValid(before, stored)) expect(isValid(after, stored), JSON.stringify(stored)).toBe(true)
          }
        },
      ),
      { numRuns: 1000 },
    )
    // Otherwise the property was not tested.
    expect(compatible).toBeGreaterThan(100)
  })
})

const keywords = [
  'minimum',
  'maximum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'enum',
  'nullable',
  'items',
  'minItems',
  'maxItems',
  'properties',
  'required',
  'additionalProperties',
  'minProperties',
  'maxProperties',
]

/** A schema with some keywords of another one of the same type. */
function mixed(schema: JSONSchemaProps, other: JSONSchemaProps, changed: readonly string[]): JSONSchemaProps {
  if (schema.type !== other.type) return schema
  const both: [string, unknown][] = Object.entries(schema).filter(([name]) => !changed.includes(name))
  const taken: [string, unknown][] = Object.entries(other).filter(([name]) => changed.includes(name))
  const result: JSONSchemaProps = Object.fromEntries([...both, ...taken])
  // A structural schema cannot have both.
  const { additionalProperties: _, ...fields } = result
  return result.properties === undefined ? result : fields
}

function storedAs(schema: JSONSchemaProps, value: unknown): unknown {
  const stored: unknown = structuredClone(value)
  compileSchema(schema, { resource: false }).prune(stored)
  return stored
}

function isValid(schema: JSONSchemaProps, value: unknown): boolean {
  return compileSchema(schema, { resource: false }).validate(value).length === 0
}

const few = fc.option(fc.nat(3), { nil: undefined, freq: 2 })
const defined = (json: Record<string, unknown>): JSONSchemaProps =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined))
const scalars = fc.oneof(
  fc.record({
    type: fc.constant('string'),
    minLength: few,
    maxLength: few,
    pattern: fc.option(fc.constantFrom('^a', 'b$'), { nil: undefined }),
    enum: fc.option(fc.uniqueArray(fc.constantFrom('a', 'ab', 'b'), { minLength: 1 }), { nil: undefined }),
    nullable: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('integer'),
    minimum: few,
    maximum: few,
    exclusiveMaximum: fc.boolean(),
    multipleOf: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  }),
)
const schemas = fc
  .oneof(
    scalars,
    fc.record({ type: fc.constant('array'), items: scalars.map(defined), minItems: few, maxItems: few }),
    fc.record({
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b'), scalars.map(defined)),
      required: fc.uniqueArray(fc.constantFrom('a', 'b')),
      maxProperties: few,
    }),
    fc.record({ type: fc.constant('object'), additionalProperties: scalars.map(defined), minProperties: few }),
  )
  .map(defined)
const scalarValues = fc.oneof(fc.constantFrom('', 'a', 'ab', 'b', 'abc'), fc.nat(5), fc.constant(null))
const values = fc.oneof(
  scalarValues,
  fc.array(scalarValues, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom('a', 'b', 'c'), scalarValues),
)

describe('compareCrds()', () => {
  const schema = { openAPIV3Schema: object({ spec: object({}) }) }
  const base = crdWith(schema.openAPIV3Schema, { subresources: { status: {}, scale: scaleOf('.status.a') } })
  const reported = (before: CrdManifest[], after: CrdManifest[]): string[] =>
    compareCrds(before, after).map(({ severity, version, path, message }) =>
      [severity, version, path, message].filter(Boolean).join(' '),
    )
  function scaleOf(
    labelSelectorPath: `.${string}`,
  ): object & Record<'specReplicasPath' | 'statusReplicasPath' | 'labelSelectorPath', `.${string}`> {
    return { specReplicasPath: '.spec.a', statusReplicasPath: '.status.a', labelSelectorPath }
  }
  const withSpec = (spec: Partial<CrdManifest['spec']>): CrdManifest => ({ ...base, spec: { ...base.spec, ...spec } })

  test('reports no change for equal CRDs', () => {
    expect(reported([base], [base])).toEqual([])
  })

  test('reports added and removed CRDs', () => {
    expect(reported([base], [])).toEqual(['breaking CRD removed: its objects are deleted with it'])
    expect(reported([], [base])).toEqual(['safe CRD added'])
  })

  test('reports changes of names, scope and conversion', () => {
    const names = { ...base.spec.names, kind: 'Gadget', listKind: 'Gadgets', singular: 'gadget', shortNames: ['g'] }
    expect(reported([base], [withSpec({ scope: 'Cluster', names, conversion: { strategy: 'Webhook' } })])).toEqual([
      'breaking kind changed from Widget to Gadget',
      'breaking listKind changed from WidgetList to Gadgets',
      'breaking scope changed from Namespaced to Cluster',
      'warning singular changed from widget to gadget',
      'warning conversion changed from None to Webhook',
      'safe shortNames added: g',
    ])
  })

  test('reports fields that are lost between versions without a conversion, unless they were lost before', () => {
    const [v1] = base.spec.versions
    const other = object({ spec: object({ size: text }) })
    const v2 = { name: 'v2', served: true, storage: false, schema: { openAPIV3Schema: other } }
    const lossy = withSpec({ versions: [v1!, v2] })
    expect(reported([base], [lossy])).toEqual([
      'breaking spec.size is lost between v2 and v1: the CRD has no conversion',
      'safe v2 version added',
    ])
    expect(reported([lossy], [lossy])).toEqual([])
    expect(reported([base], [withSpec({ ...lossy.spec, conversion: { strategy: 'Webhook' } })])).toEqual([
      'warning conversion changed from None to Webhook',
      'safe v2 version added',
    ])
  })

  test('reports changes of versions', () => {
    const [v1] = base.spec.versions
    const v2 = { name: 'v2', served: true, storage: true, schema }
    const both = withSpec({ versions: [{ ...v1!, storage: false, deprecated: true }, v2] })
    expect(reported([base], [both])).toEqual([
      'warning storage version changed from v1 to v2: rewrite the stored objects before the old version is removed',
      'safe v1 version is deprecated now',
      'safe v2 version added',
    ])
    expect(reported([both], [withSpec({ versions: [v2] })])).toEqual(['breaking v1 version removed'])
    const hidden = withSpec({ versions: [{ ...v1!, storage: false, served: false, deprecated: true }, v2] })
    expect(reported([both], [hidden])).toEqual(['breaking v1 version is no longer served'])
    expect(reported([hidden], [withSpec({ versions: [v2] })])).toEqual([
      'warning v1 version removed: no object may still be stored in it',
    ])
  })

  test('reports changes of subresources, selectable fields and columns', () => {
    const plain = crdWith(schema.openAPIV3Schema)
    expect(reported([base], [plain])).toEqual([
      'breaking v1 status subresource removed',
      'breaking v1 scale subresource removed',
    ])
    expect(reported([plain], [base])).toEqual([
      'breaking v1 status subresource added: updates of the object no longer change the status',
      'safe v1 scale subresource added',
    ])
    const scaled = crdWith(schema.openAPIV3Schema, { subresources: { status: {}, scale: scaleOf('.status.b') } })
    expect(reported([base], [scaled])).toEqual(['warning v1 paths of the scale subresource changed'])
    const selectable = crdWith(schema.openAPIV3Schema, { selectableFields: [{ jsonPath: '.spec.a' }] })
    expect(reported([selectable], [plain])).toEqual(['breaking v1 spec.a is no longer a selectable field'])
    const columns = crdWith(schema.openAPIV3Schema, {
      additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.a' }],
    })
    expect(reported([plain], [columns])).toEqual(['safe v1 columns of kubectl get changed'])
  })
})
