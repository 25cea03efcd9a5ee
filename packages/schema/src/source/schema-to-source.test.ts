import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { s } from '../builder/s.ts'
import type { Schema } from '../builder/schema.ts'
import type { JSONSchemaProps } from '../model/json-schema.ts'
import { normalSchema } from './normal-schema.ts'
import { dataToSource, schemaToSource } from './schema-to-source.ts'

/** Evaluates generated source like a compiled module. Type arguments are erased first, as by a compiler. */
function evaluate(source: string): Schema<unknown, unknown> {
  return new Function('s', `return ${eraseTypeArguments(source)}`)(s)
}

// `.raw<…>(` is the only place with types. The arguments contain no parentheses outside of string literals.
function eraseTypeArguments(source: string): string {
  let result = ''
  let rest = source
  for (let at = rest.indexOf('.raw<'); at >= 0; at = rest.indexOf('.raw<')) {
    let depth = 0
    let end = at + 4
    let quote = ''
    for (; end < rest.length; end++) {
      const char = rest[end]!
      if (quote !== '') {
        if (char === '\\') end++
        else if (char === quote) quote = ''
      } else if (char === "'" || char === '"') quote = char
      else if (char === '<') depth++
      else if (char === '>' && --depth === 0) break
    }
    result += rest.slice(0, at + 4)
    rest = rest.slice(end + 1)
  }
  return result + rest
}

const roundTrip = (json: JSONSchemaProps): void => {
  const source = schemaToSource(json)
  expect(normalSchema(evaluate(source).json), source).toEqual(normalSchema(json))
}

describe('schemaToSource()', () => {
  test('writes calls of s', () => {
    expect(schemaToSource({ type: 'string', minLength: 1, description: "It's short." })).toBe(
      `s.string({ minLength: 1 }).describe("It's short.")`,
    )
    expect(schemaToSource({ type: 'integer', format: 'int32', default: 1 })).toBe(
      `s.int({ format: 'int32' }).default(1)`,
    )
    expect(schemaToSource({ type: 'string', enum: ['a', 'b'] })).toBe(`s.enum('a', 'b')`)
    expect(schemaToSource({ type: 'string', enum: ['a', 'b'], maxLength: 1 })).toBe(
      `s.enum(['a', 'b'], { maxLength: 1 })`,
    )
    expect(schemaToSource({ type: 'boolean', enum: [true] })).toBe('s.literal(true)')
    expect(schemaToSource({ type: 'string', format: 'date-time', nullable: true })).toBe('s.time().nullable()')
    expect(schemaToSource({ 'x-kubernetes-preserve-unknown-fields': true })).toBe('s.json()')
    expect(schemaToSource(s.quantity().json)).toBe('s.quantity()')
    expect(schemaToSource(s.intOrString({ anyOf: [{ pattern: 'a' }, { minimum: 3 }] }).json)).toBe(
      `s.intOrString({ anyOf: [{ pattern: 'a' }, { minimum: 3 }] })`,
    )
    expect(schemaToSource(s.embeddedResource().json)).toBe('s.embeddedResource()')
    expect(schemaToSource(s.map(s.string(), { maxProperties: 3 }).json)).toBe('s.map(s.string(), { maxProperties: 3 })')
  })

  test('breaks wide or deep expressions into lines', () => {
    const json = s.object({
      image: s.string({ minLength: 1 }).describe('Container image to serve.'),
      ports: s
        .array(s.object({ name: s.string(), port: s.int().default(80) }), { listType: 'map', keys: ['name', 'port'] })
        .optional(),
      text: s
        .string()
        .describe(`${'A description that goes on and on. '.repeat(6)}\n\nAnd has paragraphs.`)
        .optional(),
    }).json
    expect(schemaToSource(json)).toMatchInlineSnapshot(`
      "s.object({
        /** Container image to serve. */
        image: s.string({ minLength: 1 }).describe('Container image to serve.'),
        ports: s
          .array(s.object({ name: s.string(), port: s.int().default(80) }), { listType: 'map', keys: ['name', 'port'] })
          .optional(),
        /** A description that goes on and on. */
        text: s
          .string()
          .optional()
          .describe(
            'A description that goes on and on. A description that goes on and on. A description that goes on and on. A ' +
              'description that goes on and on. A description that goes on and on. A description that goes on and on. \\n\\n' +
              'And has paragraphs.',
          ),
      })"
    `)
    roundTrip(json)
  })

  test('keeps lines within the width and starts at the indentation', () => {
    const json = s.object({
      a: s.string().describe('word '.repeat(60)),
      b: s.enum(['x'.repeat(40), 'y'.repeat(40)]),
    }).json
    const lines = schemaToSource(json, { width: 80, indent: 4 }).split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(lines.at(-1)).toBe('    })')
  })

  test('writes the first sentence of a field as a comment and escapes its end', () => {
    const commented = (description: string): string => {
      const json: JSONSchemaProps = { type: 'object', properties: { a: { type: 'string', description } } }
      roundTrip(json)
      return /\/\*\*.*?\*\//s.exec(schemaToSource(json, { width: 60 }))?.[0] ?? ''
    }
    expect(commented('How big,\ne.g. 5 cm. Measured.')).toBe('/** How big, e.g. 5 cm. */')
    expect(commented('Files as **/*.ts\n\nMore of it')).toBe('/** Files as **\u200b/*.ts */')
    expect(commented(' \n')).toBe('')
    expect(commented('word '.repeat(12))).toBe(`/**\n   * ${'word '.repeat(10)}word\n   * word\n   */`)
  })

  test('starts in the given column and writes optional fields', () => {
    const json: JSONSchemaProps = { type: 'object', properties: { a: { type: 'string' } } }
    expect(schemaToSource(json, { optional: true })).toBe('s.object({ a: s.string().optional() }).optional()')
    expect(schemaToSource({ ...json, default: {} }, { optional: true })).toContain('.default({})')
    expect(schemaToSource(json, { width: 60, column: 30 })).toContain('\n')
  })

  test.each<[string, JSONSchemaProps, string]>([
    [
      'an unknown format',
      { type: 'string', format: 'textarea' },
      `s.raw<string>({ format: 'textarea', type: 'string' })`,
    ],
    [
      'external documentation beside a default',
      { type: 'integer', externalDocs: { url: 'https://example.com' }, default: 3, description: 'x' },
      `s.raw<number>({ externalDocs: { url: 'https://example.com' }, type: 'integer' }).default(3).describe('x')`,
    ],
    [
      'a nullable enum',
      { type: 'string', enum: ['a'], nullable: true },
      `s.raw<'a' | null>({ enum: ['a'], nullable: true, type: 'string' })`,
    ],
    [
      'a map of anything',
      { type: 'object', additionalProperties: true },
      `s.raw<Record<string, unknown>>({ additionalProperties: true, type: 'object' })`,
    ],
    [
      'fields without a type, with their defaults',
      {
        'x-kubernetes-embedded-resource': true,
        type: 'object',
        properties: { spec: { type: 'object', properties: { a: { type: 'string', default: 'x' } } } },
      },
      '',
    ],
  ])('falls back to s.raw for %s', (_, json, source) => {
    if (source !== '') expect(schemaToSource(json)).toBe(source)
    else expect(schemaToSource(json)).toContain('s.raw<{ spec?: { a: string } }, { spec?: { a?: string } }>(')
    roundTrip(json)
  })

  test('keeps required fields with defaults, and required names that are not fields', () => {
    const json: JSONSchemaProps = {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } },
      required: ['z', 'b', 'a'],
      'x-kubernetes-preserve-unknown-fields': true,
    }
    expect(schemaToSource(json)).toBe(
      `s.object({ a: s.string().default('x'), b: s.string() }, { required: ['a', 'z'], preserveUnknownFields: true })`,
    )
    roundTrip(json)
  })

  test.each(['__proto__', 'constructor', 'toString', 'a-b', '0', '', "it's"])('keeps a field named %j', (name) => {
    const properties = Object.fromEntries([[name, { type: 'string', default: 'x' }]])
    roundTrip({ type: 'object', properties, required: [name] })
    roundTrip({ type: 'object', properties: { raw: { type: 'string', format: 'odd', externalDocs: properties } } })
  })

  test('rejects a default that contradicts its schema', () => {
    expect(() => schemaToSource({ type: 'integer', default: 'x' })).toThrow('Cannot write schema as source')
  })

  test('evaluates to the same schema for any structural schema', () => {
    fc.assert(fc.property(structural, roundTrip), { numRuns: 300 })
  })
})

describe('dataToSource()', () => {
  test('writes data as an expression, and breaks a text between words', () => {
    expect(dataToSource({ a: ["it's", 1], 'b-c': null })).toBe(`{ a: ["it's", 1], 'b-c': null }`)
    const text = 'word '.repeat(40)
    const source = dataToSource(text, { width: 60, indent: 2 })
    expect(Math.max(...source.split('\n').map((line) => line.length))).toBeLessThanOrEqual(60)
    expect(new Function(`return ${source}`)()).toBe(text)
  })
})

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('a\nb', "it's", '"', '\\', '`$', '\u2028', 'x'.repeat(150), 'word '.repeat(40)),
)
const name = fc.oneof(
  fc.constantFrom('a', 'b', 'name', 'a-b', 'items', '__proto__', 'constructor', '1'),
  fc.string({ maxLength: 6 }),
)
const small = fc.nat({ max: 4 })
const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined, freq: 3 })
const pattern = fc.constantFrom('^[a-z]+$', '\\d\'"', '(?i)x', '^\\w+\\.\\p{L}$')
const format = fc.constantFrom('date-time', 'byte', 'duration', 'hostname', 'uuid', 'int32', 'odd')

/** Drops undefined members, which JSON does not have. */
const defined = (json: Record<string, unknown>): JSONSchemaProps =>
  Object.fromEntries(Object.entries(json).filter(([, value]) => value !== undefined))

const armKeywords = {
  minLength: maybe(small),
  pattern: maybe(pattern),
  format: maybe(format),
  enum: maybe(fc.array(fc.jsonValue({ maxDepth: 1 }), { maxLength: 3 })),
  maximum: maybe(fc.integer()),
  exclusiveMaximum: maybe(fc.boolean()),
  required: maybe(fc.array(name, { maxLength: 3 })),
}
const leafArm = fc.record(armKeywords).map(defined)
const arm = fc
  .record({
    ...armKeywords,
    items: maybe(leafArm),
    not: maybe(leafArm),
    anyOf: maybe(fc.array(leafArm, { maxLength: 2 })),
    properties: maybe(fc.dictionary(name, leafArm, { maxKeys: 2 })),
  })
  .map(defined)

const validations = {
  minLength: maybe(small),
  maxLength: maybe(small),
  pattern: maybe(pattern),
  format: maybe(format),
  minimum: maybe(fc.integer()),
  exclusiveMinimum: maybe(fc.boolean()),
  multipleOf: maybe(fc.integer({ min: 1 })),
  maxItems: maybe(small),
  minProperties: maybe(small),
  allOf: maybe(fc.array(arm, { maxLength: 2 })),
  oneOf: maybe(fc.array(arm, { maxLength: 2 })),
  not: maybe(arm),
  externalDocs: maybe(fc.record({ url: text })),
}
const rule = fc
  .record({
    rule: fc.constantFrom('self == oldSelf', "self.all(x, x != '')", `${'self != "never" && '.repeat(20)}true`),
    message: maybe(fc.constantFrom('is immutable', 'words '.repeat(40).trim())),
    messageExpression: maybe(fc.constant("'a' + self")),
    reason: maybe(fc.constantFrom('FieldValueInvalid', 'FieldValueForbidden')),
    fieldPath: maybe(fc.constantFrom('.a', ".b['a-b']", '.nope')),
    optionalOldSelf: maybe(fc.boolean()),
  })
  .map(defined)
const described = {
  description: maybe(text),
  title: maybe(text),
  example: maybe(fc.jsonValue({ maxDepth: 2 })),
  nullable: maybe(fc.boolean()),
  'x-kubernetes-validations': maybe(fc.array(rule, { maxLength: 2 })),
}
const scalarEnum = (value: fc.Arbitrary<unknown>) => maybe(fc.array(value, { maxLength: 3 }))
const few = (keywords: Record<string, fc.Arbitrary<unknown>>) =>
  // Few keywords at a time, so that plain calls occur as often as unusual combinations.
  fc
    .record(keywords)
    .chain((json) =>
      fc
        .subarray(Object.keys(json), { maxLength: 4 })
        .map((keys) => defined(Object.fromEntries(keys.map((key) => [key, json[key]])))),
    )
const withDefault = (base: fc.Arbitrary<JSONSchemaProps>, value: fc.Arbitrary<unknown>) =>
  fc.tuple(base, maybe(value)).map(([json, initial]) => {
    // A default must satisfy the validations beside it, so that only schemas without any get one.
    const bounded = ['enum', 'required', ...Object.keys(validations).filter((key) => key !== 'externalDocs')]
    return initial === undefined || bounded.some((key) => key in json) ? json : { ...json, default: initial }
  })

const { structural } = fc.letrec<{ structural: JSONSchemaProps }>((tie) => {
  const keywords = fc.tuple(few(validations), few(described)).map(([a, b]) => ({ ...a, ...b }))
  const typed = (type: string, more: Record<string, fc.Arbitrary<unknown>>, value: fc.Arbitrary<unknown>) =>
    withDefault(
      fc.tuple(keywords, fc.record(more).map(defined)).map(([base, own]) => ({ ...base, ...own, type })),
      value,
    )
  const fields = fc.dictionary(name, tie('structural'), { maxKeys: 4 })
  return {
    structural: fc.oneof(
      { maxDepth: 2, withCrossShrink: true },
      typed('string', { enum: scalarEnum(text) }, text),
      typed('integer', { enum: scalarEnum(fc.integer()) }, fc.integer()),
      typed('number', {}, fc.double({ noNaN: true, noDefaultInfinity: true })),
      typed('boolean', { enum: scalarEnum(fc.boolean()) }, fc.boolean()),
      keywords.map((json) => ({ ...json, 'x-kubernetes-int-or-string': true })),
      keywords.map((json) => ({
        ...json,
        anyOf: [{ type: 'integer' }, { type: 'string' }],
        'x-kubernetes-int-or-string': true,
      })),
      keywords.map((json) => ({ ...json, 'x-kubernetes-preserve-unknown-fields': true })),
      keywords.map((json) => ({
        ...json,
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        'x-kubernetes-embedded-resource': true,
      })),
      typed(
        'array',
        { items: tie('structural'), 'x-kubernetes-list-type': maybe(fc.constantFrom('atomic', 'set')) },
        fc.constant([]),
      ),
      typed('object', { additionalProperties: fc.oneof(tie('structural'), fc.constant(true)) }, fc.constant({})),
      fc
        .tuple(
          typed(
            'object',
            {
              properties: fields,
              'x-kubernetes-map-type': maybe(fc.constantFrom('atomic', 'granular')),
              'x-kubernetes-preserve-unknown-fields': maybe(fc.constant(true)),
            },
            fc.constant({}),
          ),
          fc.infiniteStream(fc.boolean()),
          fc.array(name, { maxLength: 1 }),
        )
        .map(([json, choices, unknown]): JSONSchemaProps => {
          if (json.default !== undefined) return json
          const required = Object.keys(json.properties ?? {}).filter(() => choices.next().value)
          return { ...json, required: [...unknown, ...required] }
        }),
      fc
        .tuple(tie('structural'), fc.uniqueArray(name, { minLength: 1, maxLength: 2 }))
        .map(([field, keys]): JSONSchemaProps => {
          const key: JSONSchemaProps = { type: 'string' }
          return {
            type: 'array',
            items: {
              type: 'object',
              properties: Object.fromEntries([['extra', field], ...keys.map((each) => [each, key] as const)]),
              required: keys,
            },
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': keys,
          }
        }),
    ),
  }
})
