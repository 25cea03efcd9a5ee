import { describe, expect, test } from 'vitest'
import { limitValidation, ValidationLimitError } from '../field/validation-steps.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { compileSchema } from '../validate/compile-schema.ts'
import { checkStructural } from './check-structural.ts'

const listOf = (items: JSONSchemaProps): JSONSchemaProps => ({
  type: 'object',
  properties: { list: { type: 'array', items } },
})
const validate = (items: JSONSchemaProps, list: unknown[]): number =>
  limitValidation(1_000_000, () => compileSchema(listOf(items)).validate({ list }).length)

describe('limitValidation() with custom resources', () => {
  test('counts the branches of junctors', () => {
    const anyOf = Array.from({ length: 100 }, (_, i) => ({ minimum: i }))
    const items = { type: 'integer', anyOf } as JSONSchemaProps
    expect(() => validate(items, Array(20_000).fill(-1))).toThrow(ValidationLimitError)
    expect(() => validate(items, Array(20_000).fill(1000))).toThrow(ValidationLimitError)
    expect(validate(items, Array(100).fill(1000))).toBe(0)
  })

  test('counts the texts that patterns read', () => {
    const allOf = Array.from({ length: 20 }, () => ({ pattern: '^a*$' }))
    const items = { type: 'string', allOf } as JSONSchemaProps
    expect(() => validate(items, ['a'.repeat(1_000_000)])).toThrow(ValidationLimitError)
    expect(validate(items, ['a'.repeat(1000)])).toBe(0)
  })

  test('counts the texts of errors', () => {
    const values = Array.from({ length: 2000 }, (_, i) => `value-${i}`)
    const items = { type: 'string', enum: values } as JSONSchemaProps
    expect(() =>
      validate(
        items,
        Array.from({ length: 5000 }, (_, i) => `other-${i}`),
      ),
    ).toThrow(ValidationLimitError)
    expect(validate(items, ['other-1', 'value-1'])).toBe(1)
  })

  test('counts the expressions that a definition makes the server compile', () => {
    const rule = (i: number): string => `self.list.size() != ${i} && ${'true && '.repeat(10_000)}true`
    const rules = (count: number): JSONSchemaProps => ({
      ...listOf({ type: 'string' }),
      'x-kubernetes-validations': Array.from({ length: count }, (_, i) => ({ rule: rule(i) })),
    })
    expect(() => limitValidation(1_000_000, () => checkStructural(rules(2)))).toThrow(ValidationLimitError)
    expect(() => limitValidation(1_000_000, () => checkStructural(rules(1)))).not.toThrow()
  })

  test('counts the patterns that a definition makes the server compile, each of them once', () => {
    const patterns = (pattern: (i: number) => string, count: number): JSONSchemaProps => ({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string', pattern: pattern(i) }]),
      ),
    })
    const check = (schema: JSONSchemaProps) => limitValidation(1_000_000, () => checkStructural(schema).length)
    expect(() => check(patterns((i) => `^a{1,100}b${i}$`, 1000))).toThrow(ValidationLimitError)
    expect(() => check(patterns((i) => `^(a{10}){100}b${i}$`, 100))).toThrow(ValidationLimitError)
    expect(check(patterns(() => '^a{1,100}b$', 1000))).toBe(0)
  })

  test('counts the schemas of a definition', () => {
    const fields = (count: number): JSONSchemaProps => ({
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string' }])),
    })
    expect(() => limitValidation(1_000_000, () => checkStructural(fields(26_000)))).toThrow(ValidationLimitError)
    expect(limitValidation(1_000_000, () => checkStructural(fields(10_000)))).toEqual([])
  })

  test('allows large lists of simple items', () => {
    expect(validate({ type: 'string', enum: ['a', 'b'] }, Array(200_000).fill('b'))).toBe(0)
  })
})
