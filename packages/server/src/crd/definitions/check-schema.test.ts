import { FieldPath, type JSONSchemaProps } from '@kubewright/schema'
import { expect, test } from 'vitest'
import { checkSchema } from './check-schema.ts'

const path = FieldPath.of('schema')
const schemaOf = (name: string, property: JSONSchemaProps = { type: 'string' }): JSONSchemaProps => ({
  type: 'object',
  properties: { [name]: property },
})
const texts = (...args: Parameters<typeof checkSchema>): string[] =>
  checkSchema(...args).map(({ field, detail }) => `${field}: ${detail}`)

test('checkSchema() reports errors at every check', () => {
  const bad = schemaOf('a', {})
  const first = texts(bad, { path })
  expect(first).toEqual([expect.stringContaining('schema.properties[a].type')])
  expect(texts(bad, { path })).toEqual(first)
  // Of the same size as a valid one.
  expect(texts(schemaOf('b'), { path })).toEqual([])
  expect(texts(schemaOf('b', { type: 'strong' }), { path })).not.toEqual([])
})

test('checkSchema() does not accept for all definitions what a stored one permits', () => {
  const bad = schemaOf('c', {})
  expect(texts(bad, { path, stored: [bad] })).toEqual([])
  expect(texts(bad, { path })).not.toEqual([])
})

test('checkSchema() distinguishes definitions with the subresource status', () => {
  const schema: JSONSchemaProps = { ...schemaOf('d'), minProperties: 1 }
  expect(texts(schema, { path })).toEqual([])
  expect(texts(schema, { path, statusSubresource: true })).not.toEqual([])
})
