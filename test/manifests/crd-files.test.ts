// The CRDs for the types of the tutorials are compared with those that controller-gen writes for the same types in Go.
import { type crdOf, defineResource, parseYaml } from '@kubewright/api'
import { defineController, defineOperator } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { AppService } from '../../examples/app-service/src/app-service.ts'
import { Foo } from '../../examples/foo/src/foo.ts'
import { Fruit } from '../../examples/fruit/src/fruit.ts'
import { homeConversion } from '../../examples/home/src/home.conversion.ts'
import { Home } from '../../examples/home/src/home.ts'
import { manifestsOf } from '../../packages/cli/src/manifests/manifests-of.ts'

type AnyKind = Parameters<typeof crdOf>[0]

function fileOf(kind: AnyKind): [path: string, text: string] {
  const controller = defineController(kind as typeof Home, { reconcile: () => undefined })
  const conversions = kind === Home ? [homeConversion] : []
  const files = manifestsOf(defineOperator({ name: 'operator', controllers: [controller], conversions }))
  const found = [...files].filter(([path]) => path.startsWith('config/crd/bases/'))
  expect(found).toHaveLength(1)
  return found[0]!
}

interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly names: Readonly<Record<string, unknown>>
    readonly versions: readonly {
      readonly name: string
      readonly storage: boolean
      readonly schema: { readonly openAPIV3Schema: Schema }
    }[]
  }
}
interface Schema {
  readonly type?: string
  readonly description?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly [keyword: string]: unknown
}

const definitionOf = (kind: AnyKind): Definition => parseYaml(fileOf(kind)[1]) as Definition

/** All subschemas of a schema. */
function* partsOf(schema: Schema): Generator<Schema> {
  yield schema
  for (const field of Object.values(schema.properties ?? {})) yield* partsOf(field)
  if (schema.items) yield* partsOf(schema.items)
}

const kinds: [string, AnyKind, path: string][] = [
  ['Home', Home, 'config/crd/bases/ajd.my.domain_homes.yaml'],
  ['AppService', AppService, 'config/crd/bases/batch.example.com_appservices.yaml'],
  ['Foo', Foo, 'config/crd/bases/samplecontroller.k8s.io_foos.yaml'],
  ['Fruit', Fruit, 'config/crd/bases/user.k8sasdb.org_fruits.yaml'],
]

describe.each(kinds)('the CRD of %s', (_, kind, path) => {
  test('follows the conventions of controller-gen', () => {
    const [file, text] = fileOf(kind)
    expect(file).toBe(path)
    expect(text).toMatch(/^---\napiVersion: apiextensions\.k8s\.io\/v1\nkind: CustomResourceDefinition\n/)
    expect(text).not.toMatch(/^status:|^ {2}creationTimestamp:/m)
    const { metadata, spec } = definitionOf(kind)
    expect(metadata.name).toBe(`${kind.plural}.${kind.group}`)
    expect(spec.names).toMatchObject({ listKind: `${kind.kind}List`, singular: kind.kind.toLowerCase() })
    expect(spec.versions.map(({ name }) => name)).toEqual(spec.versions.map(({ name }) => name).sort())
    expect(spec.versions.filter(({ storage }) => storage)).toHaveLength(1)
    for (const { schema } of spec.versions) {
      const { type, properties } = schema.openAPIV3Schema
      expect(type).toBe('object')
      expect(properties?.['apiVersion']).toMatchObject({
        type: 'string',
        description: expect.stringContaining('APIVersion'),
      })
      expect(properties?.['kind']).toMatchObject({ type: 'string', description: expect.stringContaining('Kind') })
      expect(properties?.['metadata']).toEqual({ type: 'object' })
      for (const { required = [], properties: fields = {} } of partsOf(schema.openAPIV3Schema)) {
        expect(required).toEqual([...required].sort())
        expect(Object.keys(fields)).toEqual([...Object.keys(fields)].sort())
      }
    }
  })
})

describe('fields', () => {
  // The schemas that controller-gen gives for Go types.
  const Types = defineResource({
    group: 'facts.example.com',
    version: 'v1',
    kind: 'Type',
    spec: s.object({
      text: s.string(),
      flag: s.bool(),
      list: s.array(s.string()),
      map: s.map(s.int()),
      bytes: s.bytes(),
      quantity: s.quantity(),
      intOrString: s.intOrString(),
      time: s.time(),
      json: s.json(),
      names: s.array(s.string(), { listType: 'set' }),
      mode: s.enum('Copy', 'Mirror').default('Copy'),
      maybe: s.string().nullable(),
      optional: s.string({ minLength: 1, maxLength: 63, pattern: /^a/ }).optional(),
      bounded: s.int({ minimum: 0, maximum: 10, multipleOf: 5 }),
    }),
    status: s.object({ conditions: s.conditions('Ready') }),
  })
  const { properties = {}, required } =
    definitionOf(Types).spec.versions[0]!.schema.openAPIV3Schema.properties!['spec']!

  test.each<[string, Schema]>([
    ['text', { type: 'string' }],
    ['flag', { type: 'boolean' }],
    ['list', { type: 'array', items: { type: 'string' } }],
    ['map', { type: 'object', additionalProperties: { type: 'integer' } }],
    ['bytes', { type: 'string', format: 'byte' }],
    ['intOrString', { anyOf: [{ type: 'integer' }, { type: 'string' }], 'x-kubernetes-int-or-string': true }],
    ['time', { type: 'string', format: 'date-time' }],
    ['json', { 'x-kubernetes-preserve-unknown-fields': true }],
    ['names', { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }],
    ['mode', { type: 'string', enum: ['Copy', 'Mirror'], default: 'Copy' }],
    ['maybe', { type: 'string', nullable: true }],
    ['optional', { type: 'string', minLength: 1, maxLength: 63, pattern: '^a' }],
    ['bounded', { type: 'integer', minimum: 0, maximum: 10, multipleOf: 5 }],
  ])('%s equals the schema of controller-gen', (name, schema) => {
    expect(properties[name]).toEqual(schema)
  })

  test('quantities are integers or strings with a pattern', () => {
    expect(properties['quantity']).toMatchObject({
      anyOf: [{ type: 'integer' }, { type: 'string' }],
      pattern: expect.stringContaining('numkMGTPE') as string,
      'x-kubernetes-int-or-string': true,
    })
  })

  test('are required unless they are optional or have a default', () => {
    const free = ['mode', 'optional']
    expect(required).toEqual(Object.keys(properties).filter((name) => !free.includes(name)))
  })

  test('conditions are a map by type', () => {
    const { status } = definitionOf(Types).spec.versions[0]!.schema.openAPIV3Schema.properties!
    expect(status?.properties?.['conditions']).toMatchObject({
      type: 'array',
      'x-kubernetes-list-map-keys': ['type'],
      'x-kubernetes-list-type': 'map',
      items: { required: ['lastTransitionTime', 'message', 'reason', 'status', 'type'] },
    })
  })
})
