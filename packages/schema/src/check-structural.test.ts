import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { checkStructural } from './check-structural.ts'
import { FieldPath } from './field-path.ts'
import type { JSONSchemaProps } from './json-schema.ts'

type Cause = { readonly reason: string; readonly field: string; readonly message: string }
type Recorded = {
  readonly id: string
  readonly schema: JSONSchemaProps
  readonly status: boolean
  readonly causes: readonly Cause[]
}

// The paths of a CRD with one version: the API server reports them where its internal type keeps the schema.
const path = FieldPath.of('spec', 'validation', 'openAPIV3Schema')

function causesOf(schema: JSONSchemaProps, statusSubresource = false): string[] {
  return checkStructural(schema, { path, statusSubresource })
    .map((error) => `${error.type} ${error.field}: ${error.errorBody()}`)
    .sort()
}

describe('checkStructural() answers as a recorded kube-apiserver', () => {
  const recorded = JSON.parse(
    readFileSync(new URL('./testdata/crd-invalid.json', import.meta.url), 'utf8'),
  ) as Recorded[]
  it.each(recorded.map((each, i) => [`${each.id} ${i}`, each] as const))('%s', (_, each) => {
    const expected = each.causes.map((cause) => `${cause.reason} ${cause.field}: ${cause.message}`).sort()
    expect(causesOf(each.schema, each.status)).toEqual(expected)
  })
})
