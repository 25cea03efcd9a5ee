import { type CrdManifest, crdOf } from '@kubewright/api'
import type { JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { importCrd } from './import-crd.ts'
import { crdDifferences } from './normal-crd.ts'
import { crdWith, widgetSpec } from './testdata/crds.ts'
import { evaluateModule } from './testdata/evaluate-module.ts'

/** Imports a CRD, evaluates the module and compares its CRD with the original. */
function roundTrip(crd: CrdManifest): string {
  const { name, text, differences } = importCrd(crd)
  const kind = evaluateModule(text)[name]
  expect(kind, text).toBeDefined()
  expect(crdDifferences(crd, crdOf(kind!)), text).toEqual(differences)
  expect(differences).toEqual([])
  return text
}

describe('importCrd()', () => {
  test('writes a readable module', () => {
    const crd = crdWith(
      {
        type: 'object',
        description: 'Widget is what the factory makes.',
        required: ['spec'],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          metadata: { type: 'object' },
          spec: widgetSpec,
          status: { type: 'object', properties: { ready: { type: 'boolean' } } },
        },
      },
      {
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Made On', type: 'date', jsonPath: '.metadata.creationTimestamp', priority: 1 },
        ],
      },
    )
    expect(roundTrip(crd)).toMatchInlineSnapshot(`
      "// Imported from the CRD widgets.example.com by kubewright import. Do not edit: import it again.
      import { defineResource, type Infer, s } from 'kubewright'

      /** Widget is what the factory makes. */
      export const Widget = defineResource({
        group: 'example.com',
        kind: 'Widget',
        version: 'v1',
        external: true,
        description: 'Widget is what the factory makes.',
        spec: s.object({
          color: s.enum('red', 'green').default('red'),
          /** How big it is. */
          size: s.int({ minimum: 1 }).describe('How big it is.'),
        }),
        status: s.object({ ready: s.bool().optional() }),
        columns: {
          Size: '.spec.size',
          'Made On': { jsonPath: '.metadata.creationTimestamp', priority: 1 },
        },
      })
      export type Widget = Infer<typeof Widget>
      "
    `)
  })

  test('keeps all versions, including deprecated and unserved ones', () => {
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: widgetSpec } } }
    const crd = crdWith(
      schema.openAPIV3Schema,
      {},
      { name: 'v1beta1', served: true, storage: false, deprecated: true, schema },
      { name: 'v1alpha1', served: false, storage: false, deprecated: true, deprecationWarning: 'use v1', schema },
    )
    const text = roundTrip(crd)
    expect(text).toContain("deprecated: 'use v1'")
    expect(Object.keys(evaluateModule(text)['Widget']!['versions' as never])).toEqual(['v1', 'v1beta1', 'v1alpha1'])
  })

  test('escapes line ends in the name of a CRD, so that the name cannot become code', () => {
    const crd = crdWith({ type: 'object' })
    for (const end of ['\n', '\r', '\u2028', '\u2029']) {
      const named = { ...crd, metadata: { ...crd.metadata, name: `a.b${end}throw new Error()//` } }
      const { text } = importCrd(named)
      expect(text.split(/[\n\r\u2028\u2029]/)[0]).toMatch(
        /^\/\/ Imported from the CRD a\.b\\u.*throw new Error.*import it again\.$/,
      )
    }
  })

  test('keeps unusual CRDs', () => {
    // A status without the subresource, further fields, unknown fields, a rule on the root, and a single deprecated version.
    const text = roundTrip(
      crdWith(
        {
          type: 'object',
          required: ['operation', 'metadata'],
          properties: {
            operation: { type: 'string' },
            status: { type: 'object', required: ['x'], properties: { x: {} } },
          },
          'x-kubernetes-preserve-unknown-fields': true,
          'x-kubernetes-validations': [{ rule: 'self.operation != ""', message: 'say what' }],
        },
        { deprecated: true },
      ),
    )
    expect(text).toContain('preserveUnknownFields: true')
    expect(text).toMatch(/fields: \{\n\s+operation: s\.string\(\),\n\s+status: s/)
    roundTrip(
      crdWith({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { subresources: { status: {} } }),
    )
    roundTrip(crdWith({ type: 'object' }))
  })

  test('keeps a status subresource without a status', () => {
    const text = roundTrip(
      crdWith({ type: 'object', properties: { spec: widgetSpec } }, { subresources: { status: {} } }),
    )
    expect(text).toContain('statusSubresource: true')
    expect(text).not.toContain('status:')
  })

  test('keeps constraints on object names', () => {
    const metadata = { type: 'object', properties: { name: { type: 'string', maxLength: 5 } } }
    const text = roundTrip(crdWith({ type: 'object', properties: { metadata } }))
    expect(text).toContain('objectName: s.string({ maxLength: 5 }),')
  })

  test('keeps paths that point to no field, as API servers accept them', () => {
    const text = roundTrip(
      crdWith(
        { type: 'object', properties: { spec: widgetSpec } },
        {
          subresources: { scale: { specReplicasPath: '.spec.gone', statusReplicasPath: '.status.gone' } },
          additionalPrinterColumns: [{ name: 'Gone', type: 'string', jsonPath: '.spec.gone' }],
        },
      ),
    )
    expect(text).toContain("Gone: { jsonPath: '.spec.gone', type: 'string' }")
  })

  test('keeps names, scope, scale and selectable fields', () => {
    const { spec, ...rest } = crdWith(
      {
        type: 'object',
        properties: {
          spec: { type: 'object', properties: { replicas: { type: 'integer' } }, default: { replicas: 1 } },
          status: { type: 'object', properties: { replicas: { type: 'integer' } } },
        },
      },
      {
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        selectableFields: [{ jsonPath: '.spec.replicas' }],
      },
    )
    const names = { ...spec.names, plural: 'widgetry', listKind: 'Widgetry', shortNames: ['w'], categories: ['all'] }
    const annotations = { 'api-approved.kubernetes.io': 'https://example.com', other: 'x' }
    const metadata = { name: 'widgetry.example.com', annotations }
    const text = roundTrip({ ...rest, metadata, spec: { ...spec, scope: 'Cluster', names } })
    expect(text).toContain("annotations: { 'api-approved.kubernetes.io': 'https://example.com' }")
    expect(text).not.toContain('other')
  })

  test('renames a kind that would shadow a type of the module', () => {
    const { spec, ...rest } = crdWith({ type: 'object' })
    const crd = {
      ...rest,
      spec: { ...spec, names: { ...spec.names, kind: 'Record', listKind: 'RecordList', singular: 'record' } },
    }
    expect(importCrd(crd).name).toBe('RecordKind')
    roundTrip(crd)
  })

  test('exports a kind in CamelCase', () => {
    const { spec, ...rest } = crdWith({ type: 'object' })
    const crd = { ...rest, spec: { ...spec, names: { ...spec.names, kind: 'my-widget', listKind: 'my-widgetList' } } }
    expect(importCrd(crd)).toMatchObject({ name: 'MyWidget', kind: 'my-widget', path: 'example.com/my-widget.ts' })
    roundTrip(crd)
  })

  test('keeps the first of several columns with the same title', () => {
    const columns = ['Twice', 'Twice', '__proto__'].map((name) => ({ name, type: 'string', jsonPath: `.spec.${name}` }))
    const crd = (...additionalPrinterColumns: typeof columns): CrdManifest =>
      crdWith({ type: 'object', properties: { spec: widgetSpec } }, { additionalPrinterColumns })
    roundTrip(crd(...columns.slice(1)))
    const { text, differences } = importCrd(crd(...columns))
    expect(text.match(/Twice:/g)).toHaveLength(1)
    expect(differences).toEqual(['versions.v1.columns'])
  })

  test('lists the paths that the module cannot express', () => {
    const metadata = { type: 'object', properties: { generateName: { type: 'string', maxLength: 5 } } }
    expect(importCrd(crdWith({ type: 'object', properties: { metadata } })).differences).toEqual([
      'versions.v1.schema.properties',
    ])
  })

  test('imports the requested versions, and chooses a storage version among them', () => {
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec: widgetSpec } } }
    const older = ['v1beta1', 'v1beta2'].map((name) => ({ name, served: true, storage: false, schema }))
    const crd = crdWith(schema.openAPIV3Schema, {}, ...older)
    const { text, versions } = importCrd(crd, { versions: ['v1beta1', 'v1beta2'] })
    expect(versions).toEqual(['v1beta1', 'v1beta2'])
    expect(evaluateModule(text)['Widget']?.version).toBe('v1beta2')
    expect(() => importCrd(crd, { versions: ['v3'] })).toThrow(
      'widgets.example.com has none of the versions v3: it has v1, v1beta1, v1beta2',
    )
  })

  test('omits descriptions on request, which is not a difference', () => {
    const items = { type: 'array', items: widgetSpec, description: 'Many.' }
    const map = { type: 'object', additionalProperties: widgetSpec }
    const crd = crdWith({
      type: 'object',
      description: 'About.',
      properties: { spec: { type: 'object', properties: { items, map } } },
    })
    const { text, differences } = importCrd(crd, { descriptions: false })
    expect(text).not.toContain('describe')
    expect(text).not.toContain('About.')
    expect(differences).toEqual([])
  })

  test('throws if defineResource rejects the kind', () => {
    const { spec, ...rest } = crdWith({ type: 'object' })
    expect(() => importCrd({ ...rest, spec: { ...spec, names: { ...spec.names, kind: 'my_widget' } } })).toThrow(
      'kind must be a CamelCase name',
    )
  })

  test('preserves any CRD with any fields and versions', () => {
    fc.assert(
      fc.property(crds, (crd) => void roundTrip(crd)),
      { numRuns: 100 },
    )
  })
})

const leaf: fc.Arbitrary<JSONSchemaProps> = fc.oneof(
  fc.record({ type: fc.constant('string'), minLength: fc.nat(3) }),
  fc.record({ type: fc.constant('string'), format: fc.constantFrom('date-time', 'hostname', 'odd') }),
  fc.record({ type: fc.constant('integer'), default: fc.nat(9) }),
  fc.record({ type: fc.constant('boolean'), description: fc.string() }),
  fc.constant({ 'x-kubernetes-int-or-string': true } as JSONSchemaProps),
  fc.constant({ 'x-kubernetes-preserve-unknown-fields': true } as JSONSchemaProps),
)
const names = fc.constantFrom('size', 'color', 'a-b', 'kind', 'items', 'status')
const objects = (fields: fc.Arbitrary<JSONSchemaProps>): fc.Arbitrary<JSONSchemaProps> =>
  fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(names, fields, { maxKeys: 3 }),
    required: fc.uniqueArray(names, { maxLength: 2 }),
    'x-kubernetes-preserve-unknown-fields': fc.constant(true),
  })
const part = fc.oneof(leaf, objects(fc.oneof(leaf, objects(leaf))))
const version = fc
  .record({
    fields: fc.dictionary(fc.constantFrom('spec', 'status', 'data', 'operation'), part, { maxKeys: 4 }),
    required: fc.uniqueArray(fc.constantFrom('spec', 'metadata', 'data'), { maxLength: 2 }),
    hasStatus: fc.boolean(),
    open: fc.boolean(),
    served: fc.boolean(),
    deprecated: fc.boolean(),
    description: fc.option(fc.string(), { nil: undefined }),
  })
  .map(({ fields, required, hasStatus, open, served, deprecated, description }) => ({
    served,
    deprecated,
    ...(hasStatus ? { subresources: { status: {} } } : {}),
    schema: {
      openAPIV3Schema: {
        type: 'object',
        ...(description === undefined ? {} : { description }),
        properties: fields,
        required: required.filter((name) => name === 'metadata' || name in fields),
        ...(open ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
      } satisfies JSONSchemaProps,
    },
  }))
const crds = fc.array(version, { minLength: 1, maxLength: 2 }).map((versions): CrdManifest => {
  const { spec, ...rest } = crdWith({})
  const named = versions.map((one, index) => ({ ...one, name: `v${index + 1}`, storage: index === 0 }))
  return { ...rest, spec: { ...spec, versions: named } }
})
