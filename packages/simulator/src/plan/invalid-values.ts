import { isJsonObject } from '@kubewright/base'
import type { JSONSchemaProps } from '@kubewright/schema'
import { type Emit, type Path, type Variant, variedOf } from './variants.ts'

const maxDepth = 6

/**
 * Forms of an object that its schema forbids, one field each: values beyond the bounds, unknown values of enumerations,
 * values of another type, required fields removed. Formats and rules are left to the server.
 */
export function invalidValuesOf(schema: JSONSchemaProps, body: Readonly<Record<string, unknown>>): Variant[] {
  return variedOf(schema, body, spoil)
}

function spoil(schema: JSONSchemaProps, value: unknown, path: Path, emit: Emit): void {
  if (path.length > maxDepth || value === undefined) return
  for (const wrong of wrongValues(schema, value)) emit(path, wrong)
  if (Array.isArray(value)) {
    const [first] = value as unknown[]
    if (first !== undefined) spoil(schema.items ?? {}, first, [...path, 0], emit)
    return
  }
  if (!isJsonObject(value)) return
  for (const property of schema.required ?? []) {
    if (value[property] !== undefined) emit([...path, property], undefined)
  }
  for (const [property, part] of Object.entries(schema.properties ?? {})) {
    spoil(part, value[property], [...path, property], emit)
  }
}

function wrongValues(schema: JSONSchemaProps, value: unknown): unknown[] {
  const wrong: unknown[] = []
  if (schema.enum !== undefined) wrong.push('not-in-the-enumeration')
  if (typeof value === 'number') {
    if (schema.minimum !== undefined) wrong.push(schema.minimum - 1)
    if (schema.maximum !== undefined) wrong.push(schema.maximum + 1)
    // Webhooks and rules may forbid what the schema allows.
    if (schema.minimum === undefined) wrong.push(-1)
    if (schema.maximum === undefined) wrong.push(2_000_000_000)
    wrong.push('text')
  }
  if (typeof value === 'string' && schema.enum === undefined) {
    wrong.push('')
    if (schema.maxLength !== undefined) wrong.push('x'.repeat(Math.min(schema.maxLength + 1, 5000)))
    if (schema.pattern !== undefined || schema.format !== undefined) wrong.push('?!')
  }
  if (Array.isArray(value)) {
    if ((schema.minItems ?? 0) > 0 || value.length > 0) wrong.push([])
    const [first] = value as unknown[]
    if (first !== undefined) wrong.push([...(value as unknown[]), first])
  }
  return wrong
}
