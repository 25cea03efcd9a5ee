import type { JSONSchemaProps } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { customResource } from '../testdata/custom-resource.ts'
import { customDefinitions, type OpenApiVersion } from './custom-definitions.ts'

const specOf = (spec: JSONSchemaProps, version: OpenApiVersion): unknown => {
  const resource = customResource('v1', { type: 'object', properties: { spec } })
  const { properties } = customDefinitions(resource, version).get('com.example.shop.v1.Widget')! as {
    properties: Record<string, unknown>
  }
  return properties['spec']
}

describe('customDefinitions()', () => {
  test('omits logic and nullable fields in version 2 and does not require them', () => {
    const spec: JSONSchemaProps = {
      type: 'object',
      required: ['size', 'name'],
      oneOf: [{ required: ['size'] }],
      properties: { size: { type: 'integer', nullable: true, minimum: 1 }, name: { type: 'string' } },
    }
    expect(specOf(spec, 'v2')).toEqual({
      type: 'object',
      required: ['name'],
      properties: { size: { minimum: 1 }, name: { type: 'string' } },
    })
    expect(specOf(spec, 'v3')).toEqual(spec)
  })

  test('omits the type of values with unknown fields in version 2', () => {
    const spec: JSONSchemaProps = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { a: {} },
    }
    expect(specOf(spec, 'v2')).toEqual({ 'x-kubernetes-preserve-unknown-fields': true })
    expect(specOf(spec, 'v3')).toEqual(spec)
  })

  test('adds anyOf for values that are integer or string', () => {
    const types = [{ type: 'integer' }, { type: 'string' }]
    const marked = { 'x-kubernetes-int-or-string': true }
    expect(specOf(marked, 'v3')).toEqual({ ...marked, anyOf: types })
    expect(specOf({ ...marked, anyOf: types }, 'v3')).toEqual({ ...marked, anyOf: types })
    const bounds = [{ pattern: '^a' }, { maximum: 3 }]
    expect(specOf({ ...marked, anyOf: bounds }, 'v3')).toEqual({ ...marked, anyOf: bounds, allOf: [{ anyOf: types }] })
    expect(specOf(marked, 'v2')).toEqual(marked)
  })

  test('omits defaults in version 2', () => {
    const spec = { type: 'string', default: 'x' }
    expect(specOf(spec, 'v2')).toEqual({ type: 'string' })
    expect(specOf(spec, 'v3')).toEqual(spec)
  })

  test('contains the selectable fields', () => {
    const resource = { ...customResource('v1', { type: 'object' }), selectors: { fields: { 'spec.a': () => '' } } }
    for (const schema of customDefinitions(resource, 'v3').values()) {
      expect(schema['x-kubernetes-selectable-fields']).toEqual([{ fieldPath: 'spec.a' }])
    }
  })

  test('adds the standard fields to embedded resources', () => {
    expect(specOf({ type: 'object', 'x-kubernetes-embedded-resource': true }, 'v3')).toMatchObject({
      required: ['kind', 'apiVersion'],
      properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: {} },
    })
  })

  test('defines the list kind', () => {
    const definitions = customDefinitions(customResource('v1', { type: 'object' }), 'v2')
    expect(definitions.get('com.example.shop.v1.WidgetList')).toMatchObject({
      description: 'WidgetList is a list of Widget',
      required: ['items'],
      properties: { items: { items: { $ref: '#/definitions/com.example.shop.v1.Widget' } } },
    })
  })

  test('does not modify the schema of the resource', () => {
    const schema: JSONSchemaProps = { type: 'object', properties: { a: { 'x-kubernetes-int-or-string': true } } }
    const resource = customResource('v1', schema)
    customDefinitions(resource, 'v2')
    expect(schema).toEqual({ type: 'object', properties: { a: { 'x-kubernetes-int-or-string': true } } })
  })
})
