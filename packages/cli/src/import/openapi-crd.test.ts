import { crdOf } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { importCrd } from './import-crd.ts'
import { openApiCrd } from './openapi-crd.ts'
import { evaluateModule } from './testdata/evaluate-module.ts'

const ref = (name: string): object => ({ $ref: `#/components/schemas/${name}` })
const gvk = [{ group: 'metrics.example.com', version: 'v1', kind: 'NodeMetrics' }]
const document = {
  components: {
    schemas: {
      NodeMetrics: {
        type: 'object',
        description: 'What a node uses.',
        required: ['usage', 'window'],
        properties: {
          apiVersion: { type: 'string' },
          kind: { type: 'string' },
          metadata: { allOf: [ref('ObjectMeta')], default: {} },
          usage: {
            type: 'object',
            additionalProperties: { allOf: [ref('Quantity')], default: {}, description: 'How much.' },
          },
          window: { type: 'string', default: '' },
          port: ref('IntOrString'),
          tree: { ...ref('Tree'), description: 'A tree.' },
          any: {},
          lost: ref('Nowhere'),
        },
        'x-kubernetes-group-version-kind': gvk,
      },
      ObjectMeta: { type: 'object', properties: { name: { type: 'string' } } },
      Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
      IntOrString: { oneOf: [{ type: 'integer' }, { type: 'string' }], format: 'int-or-string' },
      Tree: {
        type: 'object',
        properties: { leaves: { type: 'array', items: ref('Tree'), 'x-kubernetes-patch-strategy': 'merge' } },
      },
    },
  },
}
const served = {
  group: 'metrics.example.com',
  version: 'v1',
  kind: 'NodeMetrics',
  plural: 'nodes',
  singular: '',
  scope: 'Cluster',
  shortNames: [],
  categories: [],
  subresources: [],
} as const

describe('openApiCrd()', () => {
  test('derives a CRD from the OpenAPI document of an extension server', () => {
    const crd = openApiCrd(served, document)
    const unknown = { 'x-kubernetes-preserve-unknown-fields': true }
    expect(crd?.spec.versions[0]?.schema.openAPIV3Schema.properties).toEqual({
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object', properties: { name: { type: 'string' } } },
      usage: {
        type: 'object',
        additionalProperties: { description: 'How much.', 'x-kubernetes-int-or-string': true },
      },
      window: { type: 'string' },
      port: { 'x-kubernetes-int-or-string': true },
      tree: {
        type: 'object',
        description: 'A tree.',
        properties: { leaves: { type: 'array', items: unknown } },
      },
      any: unknown,
      lost: unknown,
    })
  })

  test('returns a CRD that can be imported', () => {
    const { text, name, path } = importCrd(openApiCrd(served, document)!)
    expect(path).toBe('metrics.example.com/node-metrics.ts')
    const { spec } = crdOf(evaluateModule(text)[name]!)
    expect(spec).toMatchObject({ scope: 'Cluster', names: { plural: 'nodes', singular: 'nodemetrics' } })
    expect(spec.versions[0]?.schema.openAPIV3Schema.required).toEqual(['usage', 'window'])
  })

  test('returns undefined if the document does not describe the kind', () => {
    expect(openApiCrd({ ...served, kind: 'PodMetrics' }, document)).toBeUndefined()
    expect(openApiCrd(served, {})).toBeUndefined()
  })
})
