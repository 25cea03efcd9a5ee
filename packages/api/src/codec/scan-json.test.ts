import type { JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeJson, parseJson } from './decode-json.ts'
import { JsonReader } from './json-reader.ts'
import { countFields, countKnownFields } from './scan-json.ts'

const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    a: { type: 'string' },
    b: {
      type: 'object',
      properties: { a: { type: 'integer' }, c: { type: 'array', items: { type: 'object', properties: { a: {} } } } },
    },
    c: { type: 'object', additionalProperties: { type: 'object', properties: { b: { type: 'string' } } } },
    d: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    e: { type: 'array' },
  },
}

/** JSON text with duplicate and unknown fields, unusual numbers and unusual spacing. */
const texts = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('1', '-0', '0', '-0.0', '1e3', '1E400', '2.50', '9007199254740993', '123456789012345', '-7'),
    fc.constantFrom('"x"', '":"', '"\\":{"', '"\\\\"', '"\\ud83d\\ude00"', '"\\uD800"', '""', 'null', 'true'),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    { weight: 4, arbitrary: tie('object') },
  ),
  object: fc
    .array(
      fc.tuple(
        fc.constantFrom('a', 'b', 'c', 'd', 'e', '__proto__', '\\u0061', 'a\\\\'),
        fc.constantFrom('', ' ', '\n\t'),
        tie('value'),
      ),
      { maxLength: 4 },
    )
    .map((fields) => `{${fields.map(([name, space, value]) => `"${name}"${space}:${space}${value}`).join(',')}}`),
})).value

/** Prints a value so that the sign of zero and bigints are visible. */
function outcome(decode: () => unknown): unknown {
  try {
    return { value: decode() }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

describe('decodeJson()', () => {
  test.each([
    ['strict with a type', { strict: true, schema }],
    ['with a type', { schema }],
    ['strict', { strict: true }],
  ])('%s returns what JsonReader returns', (_, options) => {
    fc.assert(
      fc.property(texts, (text) => {
        const reader = new JsonReader(text, options)
        expect(outcome(() => decodeJson(text, options))).toEqual(
          outcome(() => ({ value: reader.read(), strictErrors: reader.strictErrors })),
        )
      }),
      { numRuns: 1000 },
    )
  })

  test('rejects input nested deeper than Go allows', () => {
    const text = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    expect(() => decodeJson(text, { strict: true })).toThrow('exceeded max depth')
    expect(() => parseJson(text)).toThrow('exceeded max depth')
  })
})

test('parseJson() returns what JsonReader returns', () => {
  fc.assert(
    fc.property(texts, (text) => {
      expect(outcome(() => parseJson(text))).toEqual(outcome(() => new JsonReader(text).read()))
    }),
    { numRuns: 1000 },
  )
})

describe('countFields()', () => {
  test.each([
    ['{"a":{"b" : ":"},"a":["\\":"]}', 3],
    ['"a:b"', 0],
    ['[123456789012345,-1.5,"\\u00e9"]', 0],
    ['1234567890123456', -1],
    ['"1234567890123456"', 0],
    ['[-0]', -1],
    ['1e2', -1],
    ['"\\uD800"', -1],
  ])('of %s is %j', (text, expected) => {
    expect(countFields(text)).toBe(expected)
  })
})

test('countKnownFields() descends into typed fields and returns -1 for an unknown one', () => {
  expect(countKnownFields({ a: 1, b: { c: [{ a: 1 }] }, d: { x: { y: 1 } }, e: [{ z: 1 }] }, schema)).toBe(9)
  expect(countKnownFields({ c: { any: { b: 1 } } }, schema)).toBe(3)
  expect(countKnownFields({ c: { any: { x: 1 } } }, schema)).toBe(-1)
  expect(countKnownFields({ constructor: 1 }, schema)).toBe(-1)
})
