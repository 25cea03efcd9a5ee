import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkStructural } from './check/check-structural.ts'
import type { FieldError } from './field/field-error.ts'
import { FieldPath } from './field/field-path.ts'
import type { JSONSchemaProps } from './model/json-schema.ts'
import { StructuralNode } from './model/structural-node.ts'
import { compileSchema } from './validate/compile-schema.ts'
import { validateExactly } from './validate/exact-validate.ts'
import { checkListTypes, hasListTypeErrors } from './validate/list-types.ts'

const names = fc.constantFrom('a', 'b', 'c', 'metadata', '__proto__', 'constructor', 'x-y')

function isAlmostInteger(n: number): boolean {
  return !Number.isInteger(n) && Math.abs(n - Math.round(n)) < 1e-6
}

/** Values that often match the schemas below. */
const json: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, '', 'a', 'abc', 'x'.repeat(20), '2020-01-01T00:00:00Z', 'ä😀'),
    fc.integer({ min: -5, max: 20 }),
    // Kubernetes accepts numbers as integers if they differ from one by a tiny error only; other validators do not.
    fc.double({ min: -5, max: 20, noNaN: true }).filter((n) => !Object.is(n, -0) && !isAlmostInteger(n)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(names, tie('value')), { maxLength: 4 }).map(fromEntries),
  ),
})).value

/** Creates an object like JSON.parse, even with a field named `__proto__`. */
function fromEntries(entries: [string, unknown][]): unknown {
  const object = {}
  for (const [name, value] of entries) {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
  }
  return object
}

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined })

const valueRules = fc.record(
  {
    minimum: fc.integer({ min: -3, max: 5 }),
    maximum: fc.integer({ min: 0, max: 15 }),
    minLength: fc.integer({ min: 0, max: 3 }),
    maxLength: fc.integer({ min: 0, max: 5 }),
    minItems: fc.integer({ min: 0, max: 2 }),
    maxItems: fc.integer({ min: 0, max: 3 }),
    minProperties: fc.integer({ min: 0, max: 2 }),
    maxProperties: fc.integer({ min: 0, max: 3 }),
    pattern: fc.constantFrom('^a', 'b$', '^[a-z]*$'),
    required: fc.uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2, minLength: 1 }),
    enum: fc.uniqueArray(fc.constantFrom('a', 'abc', ''), { minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: [] },
)

const junctors = fc.record(
  {
    anyOf: fc.array(valueRules, { minLength: 1, maxLength: 3 }),
    allOf: fc.array(valueRules, { minLength: 1, maxLength: 2 }),
    oneOf: fc.array(valueRules, { minLength: 1, maxLength: 3 }),
    not: valueRules,
  },
  { requiredKeys: [] },
)

const { schema: anySchema } = fc.letrec<{ schema: JSONSchemaProps }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .tuple(fc.constantFrom('string', 'integer', 'number', 'boolean'), valueRules, junctors, fc.boolean())
      .map(([type, rules, more, nullable]) => ({ type, ...rules, ...more, nullable })),
    fc
      .tuple(tie('schema'), valueRules, junctors)
      .map(([items, rules, more]) => ({ type: 'array', items, ...rules, ...more })),
    fc
      .tuple(fc.dictionary(names, tie('schema'), { maxKeys: 4 }), valueRules, junctors, optional(fc.constant(true)))
      .map(([properties, rules, more, preserve]) => ({
        type: 'object',
        properties,
        ...rules,
        ...more,
        ...(preserve === undefined ? {} : { 'x-kubernetes-preserve-unknown-fields': preserve }),
      })),
    fc.tuple(tie('schema'), valueRules).map(([additionalProperties, rules]) => ({
      type: 'object',
      additionalProperties,
      ...rules,
    })),
    fc.constant<JSONSchemaProps>({ 'x-kubernetes-preserve-unknown-fields': true }),
    fc.constant<JSONSchemaProps>({ 'x-kubernetes-int-or-string': true }),
  ),
}))

/** Adds an arbitrary default to every node: the engine must handle defaults that do not match. */
const schemaWithDefaults: fc.Arbitrary<JSONSchemaProps> = fc
  .tuple(anySchema, fc.array(json, { minLength: 1, maxLength: 5 }))
  .map(([schema, values]) => {
    let next = 0
    const visit = (node: JSONSchemaProps): JSONSchemaProps => ({
      ...node,
      default: values[next++ % values.length],
      ...(node.items === undefined ? {} : { items: visit(node.items) }),
      ...(node.properties === undefined
        ? {}
        : {
            properties: Object.fromEntries(Object.entries(node.properties).map(([name, each]) => [name, visit(each)])),
          }),
    })
    return visit(schema)
  })

describe('StructuralSchema.prune()', () => {
  test('is idempotent and reports each removed field exactly once', () => {
    fc.assert(
      fc.property(anySchema, json, (schema, value) => {
        const compiled = compileSchema(schema)
        const once = structuredCopy(value)
        const first = compiled.prune(once)
        const twice = structuredCopy(once)
        expect(compiled.prune(twice)).toEqual([])
        expect(twice).toEqual(once)
        if (first.length === 0) expect(once).toEqual(value)
      }),
    )
  })
})

describe('StructuralSchema.default()', () => {
  test('is idempotent', () => {
    fc.assert(
      fc.property(schemaWithDefaults, json, (schema, value) => {
        const compiled = compileSchema(schema)
        const once = structuredCopy(value)
        compiled.default(once)
        const twice = structuredCopy(once)
        compiled.default(twice)
        expect(twice).toEqual(once)
      }),
    )
  })

  test('never shares a default between objects', () => {
    const compiled = compileSchema({
      type: 'object',
      properties: { a: { type: 'object', default: { list: [1] }, 'x-kubernetes-preserve-unknown-fields': true } },
    })
    const first: { a?: { list: number[] } } = {}
    const second: { a?: { list: number[] } } = {}
    compiled.default(first)
    compiled.default(second)
    first.a?.list.push(2)
    expect(second.a?.list).toEqual([1])
  })
})

describe('StructuralSchema.validate()', () => {
  test('never throws, and reports no errors exactly if the fast check accepts', () => {
    fc.assert(
      fc.property(anySchema, json, json, (schema, value, old) => {
        const compiled = compileSchema(schema)
        const exact = validateExactly(schema, value, '', 'resource')
        expect(compiled.accepts(value)).toBe(exact.valid)
        expect(compiled.validateKeywords(value).length === 0).toBe(exact.valid)
        compiled.validateUpdate(value, old)
      }),
      { numRuns: 300 },
    )
  })

  test('ignores unchanged values in an update', () => {
    fc.assert(
      fc.property(anySchema, json, (schema, value) => {
        // Objects with fields that have no schema count as changed.
        fc.pre(typeof value !== 'object' || Array.isArray(value))
        const compiled = compileSchema({ type: 'object', properties: { a: schema } })
        expect(compiled.validateUpdate({ a: value }, { a: structuredCopy(value) })).toEqual([])
      }),
    )
  })

  test('agrees with Ajv on the common keywords', () => {
    const ajv = new Ajv({ strict: false, allErrors: false, unicodeRegExp: true })
    fc.assert(
      fc.property(anySchema, json, (schema, value) => {
        const judge = ajv.compile(toJsonSchema(schema))
        expect(compileSchema(schema).accepts(value)).toBe(judge(value))
      }),
      { numRuns: 300 },
    )
  })
})

describe('hasListTypeErrors()', () => {
  test('finds every duplicate', () => {
    const small = fc.constantFrom<unknown>(
      null,
      1,
      2,
      'a',
      'b',
      true,
      {},
      { k: 1 },
      { k: 1, l: 2 },
      { k: 'a', v: 1 },
      [1],
    )
    const schemas = fc.constantFrom<JSONSchemaProps>(
      { 'x-kubernetes-list-type': 'set' },
      { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
      { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k', 'l'] },
    )
    fc.assert(
      fc.property(schemas, fc.array(small, { maxLength: 5 }), (more, list) => {
        const node = StructuralNode.of({ type: 'object', properties: { f: { type: 'array', ...more } } })
        const errors: FieldError[] = []
        checkListTypes({ f: list }, node, FieldPath.none, errors)
        if (errors.length > 0) expect(hasListTypeErrors({ f: list }, node)).toBe(true)
      }),
    )
  })
})

describe('checkStructural()', () => {
  test('never throws on schemas that are not structural', () => {
    const check = (schema: JSONSchemaProps): void => {
      expect(checkStructural(schema)).toBeInstanceOf(Array)
    }
    fc.assert(fc.property(anySchema, check))
    fc.assert(fc.property(schemaWithDefaults, check))
  })
})

function structuredCopy(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/**
 * Converts to JSON Schema. Evens out the specifics of Kubernetes: null is checked for type and enum only, and enum
 * values are compared after a conversion.
 */
function toJsonSchema(schema: JSONSchemaProps): object {
  const { nullable, ...rest } = schema
  const out: Record<string, unknown> = { ...rest }
  delete out['default']
  if (schema['x-kubernetes-int-or-string'] === true) out['type'] = ['integer', 'string']
  for (const key of ['anyOf', 'allOf', 'oneOf'] as const) {
    const branches = schema[key]
    if (branches !== undefined) out[key] = branches.map(toJsonSchema)
  }
  if (schema.not !== undefined) out['not'] = toJsonSchema(schema.not)
  if (schema.items !== undefined) out['items'] = toJsonSchema(schema.items)
  if (schema.properties !== undefined) {
    out['properties'] = fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, toJsonSchema(each)]))
  }
  if (typeof schema.additionalProperties === 'object')
    out['additionalProperties'] = toJsonSchema(schema.additionalProperties)
  const typed = schema.type !== undefined || schema['x-kubernetes-int-or-string'] === true
  const nullAllowed = (nullable === true || !typed) && (schema.enum ?? []).length === 0
  return nullAllowed ? { anyOf: [{ type: 'null' }, out] } : { allOf: [{ not: { type: 'null' } }, out] }
}
