import { describe, expect, test } from 'vitest'
import { describedSchema } from './descriptions.ts'
import { defaultRelease } from './releases.ts'

describe('describedSchema()', () => {
  test.each(['v2', 'v3'] as const)('describes every definition and field of %s and changes nothing else', (version) => {
    const missing: string[] = []
    for (const name of defaultRelease.schemaNames()) {
      const { description, properties, ...rest } = describedSchema(defaultRelease, name, version)
      if (!description) missing.push(name)
      const fields = Object.entries(properties ?? {}).map(([field, { description: text, ...schema }]) => {
        if (!text) missing.push(`${name}.${field}`)
        return [field, schema] as const
      })
      const plain = defaultRelease.publishedSchema(name, version)
      expect({ ...rest, ...(properties && { properties: Object.fromEntries(fields) }) }).toEqual(plain)
    }
    expect(missing).toEqual([])
  })

  test('keeps a reference and its description in allOf form for v3 and side by side for v2', () => {
    const description = 'How new pods replace old ones.'
    const name = 'io.k8s.api.apps.v1.DeploymentStrategy'
    const strategy = (version: 'v2' | 'v3'): unknown =>
      describedSchema(defaultRelease, 'io.k8s.api.apps.v1.DeploymentSpec', version).properties?.['strategy']
    expect(strategy('v3')).toMatchObject({ description, allOf: [{ $ref: `#/components/schemas/${name}` }] })
    expect(strategy('v2')).toMatchObject({ description, $ref: `#/definitions/${name}` })
  })

  test('throws for definitions that are not built in', () => {
    expect(() => describedSchema(defaultRelease, 'com.example.v1.Widget', 'v3')).toThrow(RangeError)
  })
})
