import { defaultRelease } from '@kubewright/k8s/releases'
import { expect, test } from 'vitest'
import { quantityFields, quantityMaps } from '../packages/api/src/semantic-equal.ts'

test('semanticEqual() knows all quantities of built-in types, except for fields whose names have other uses', () => {
  const isQuantity = (schema: unknown): boolean => JSON.stringify(schema ?? '').includes('api.resource.Quantity')
  const maps = new Set<string>()
  const fields = new Set<string>()
  for (const name of defaultRelease.schemaNames()) {
    for (const [field, schema] of Object.entries(defaultRelease.publishedSchema(name, 'v3').properties ?? {})) {
      if (!isQuantity(schema)) continue
      ;(isQuantity(schema.additionalProperties) ? maps : fields).add(field)
    }
  }
  const ambiguous = ['capacity', 'default', 'max', 'min', 'step', 'validValues', 'value']
  expect([...quantityMaps].sort()).toEqual([...maps].sort())
  expect([...quantityFields, ...ambiguous].sort()).toEqual([...fields].sort())
})
