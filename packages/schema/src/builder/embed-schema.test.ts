import { describe, expect, test } from 'vitest'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { s } from './s.ts'

const ref = (name: string): JSONSchemaProps => ({ allOf: [{ $ref: `#/components/schemas/${name}` }], default: {} })
const text: JSONSchemaProps = { type: 'string', default: '' }

// The forms in which kube-apiserver publishes its own types at /openapi/v3.
const definitions: Record<string, JSONSchemaProps> = {
  Template: { type: 'object', properties: { metadata: ref('ObjectMeta'), spec: ref('Spec') } },
  ObjectMeta: {
    type: 'object',
    properties: {
      labels: { type: 'object', additionalProperties: text },
      managedFields: { type: 'array', items: ref('Spec') },
      name: { type: 'string' },
      resourceVersion: { type: 'string' },
    },
  },
  Spec: {
    type: 'object',
    required: ['ports', 'host'],
    properties: {
      host: text,
      ports: {
        type: 'array',
        items: ref('Port'),
        'x-kubernetes-list-map-keys': ['containerPort', 'protocol'],
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-patch-merge-key': 'containerPort',
        'x-kubernetes-patch-strategy': 'merge',
      },
      reference: { ...ref('LocalObjectReference'), description: 'Says where.' },
      raw: {},
    },
  },
  Port: {
    type: 'object',
    required: ['containerPort'],
    properties: {
      containerPort: { type: 'integer', format: 'int32', default: 0 },
      protocol: { type: 'string', default: 'TCP' },
      target: { allOf: [{ $ref: '#/components/schemas/IntOrString' }] },
      size: { $ref: '#/components/schemas/Quantity' },
    },
  },
  LocalObjectReference: { type: 'object', properties: { name: text }, 'x-kubernetes-map-type': 'atomic' },
  IntOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  Loop: { type: 'object', properties: { inner: ref('Loop') } },
}

describe('s.from()', () => {
  const json = s.from<unknown>(definitions['Template']!, { definitions }).json
  const spec = json.properties?.['spec']?.properties

  test('resolves references and drops keywords of built-in kinds', () => {
    expect(JSON.stringify(json)).not.toMatch(/\$ref|x-kubernetes-patch|allOf|oneOf/)
    expect(spec?.['ports']).toMatchObject({ 'x-kubernetes-list-type': 'map', items: { type: 'object' } })
  })

  test('keeps intentional defaults and drops Go zero values', () => {
    const port = spec?.['ports']?.items?.properties
    expect(port?.['protocol']?.default).toBe('TCP')
    expect(port?.['containerPort']).not.toHaveProperty('default')
    expect(spec?.['host']).not.toHaveProperty('default')
    expect(spec?.['reference']).not.toHaveProperty('default')
    expect(spec?.['reference']?.properties?.['name']?.default).toBe('')
    expect(json.properties?.['spec']).not.toHaveProperty('default')
  })

  test('writes int-or-string and quantities like controller-gen, and untyped values as preserved', () => {
    const port = spec?.['ports']?.items?.properties
    expect(port?.['target']).toEqual(s.intOrString().json)
    expect(port?.['size']).toEqual(s.quantity().json)
    expect(spec?.['raw']).toEqual(s.json().json)
  })

  test('keeps the description that stands beside a $ref', () => {
    expect(spec?.['reference']?.description).toBe('Says where.')
  })

  test('reduces embedded object metadata to the fields that a template may have', () => {
    expect(Object.keys(json.properties?.['metadata']?.properties ?? {})).toEqual(['labels', 'name'])
  })

  test('embeds a complete object of a kind', () => {
    const kind = {
      schema: { ...definitions['Template']!, properties: { spec: { type: 'object' } } },
      $read: {},
      $write: {},
    }
    expect(s.from(kind).json).toEqual({
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: { type: 'object' },
        spec: { type: 'object' },
      },
      required: ['apiVersion', 'kind'],
      type: 'object',
      'x-kubernetes-embedded-resource': true,
    })
  })

  test('gives lists a list type that a CRD allows', () => {
    const item: JSONSchemaProps = { type: 'object', properties: { name: { type: 'string' } } }
    const list = { type: 'array', items: item, 'x-kubernetes-list-map-keys': ['name'], 'x-kubernetes-list-type': 'map' }
    expect(s.from<unknown>(list).json).toEqual({ type: 'array', items: item, 'x-kubernetes-list-type': 'atomic' })
    const bytes = { type: 'string', format: 'byte', 'x-kubernetes-list-type': 'atomic' }
    expect(s.from<unknown>(bytes).json).toEqual({ type: 'string', format: 'byte' })
  })

  test('does not change a structural schema', () => {
    const structural = s.object({ a: s.quantity(), b: s.array(s.json()), c: s.string().default('x') }).json
    expect(s.from<unknown>(structural).json).toEqual(structural)
  })

  test('keeps the enums of schemas that do not describe a Go struct', () => {
    const { json } = s.object({ policy: s.enum('Always', 'Never') })
    expect(s.from<unknown>(json).json).toEqual(json)
  })

  test('rejects recursion and unknown references and names the path', () => {
    expect(() => s.from<unknown>(definitions['Loop']!, { definitions })).toThrow('it contains itself at .inner')
    expect(() => s.from<unknown>({ type: 'object', properties: { a: ref('Nope') } })).toThrow(
      'no definition for #/components/schemas/Nope at .a',
    )
  })
})
