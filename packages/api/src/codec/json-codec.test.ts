import type { JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeJson, parseJson, strictDecodingMessage } from './decode-json.ts'
import { encodeJson } from './encode-json.ts'
import { JsonReader, RepeatedNull } from './json-reader.ts'
import { JsonSyntaxError } from './json-syntax-error.ts'

describe('JsonReader.read() fails as encoding/json does', () => {
  test.each([
    ['', 'unexpected end of JSON input', 0],
    [' ', 'unexpected end of JSON input', 1],
    ['{', 'unexpected end of JSON input', 1],
    ['{"a', 'unexpected end of JSON input', 3],
    ['{"a":', 'unexpected end of JSON input', 5],
    ['{"a":1', 'unexpected end of JSON input', 6],
    ['[1,', 'unexpected end of JSON input', 3],
    ['x', "invalid character 'x' looking for beginning of value", 1],
    ['é', "invalid character 'Ã' looking for beginning of value", 1],
    ["'", "invalid character '\\'' looking for beginning of value", 1],
    ['[1,]', "invalid character ']' looking for beginning of value", 4],
    ['[1 2]', "invalid character '2' after array element", 4],
    ['{a}', "invalid character 'a' looking for beginning of object key string", 2],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string", 8],
    ['{"a" 1}', "invalid character '1' after object key", 6],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair", 8],
    ['{} x', "invalid character 'x' after top-level value", 4],
    ['nope', "invalid character 'o' in literal null (expecting 'u')", 2],
    ['tru', "invalid character ' ' in literal true (expecting 'e')", 3],
    ['01', "invalid character '1' after top-level value", 2],
    ['-', "invalid character ' ' in numeric literal", 1],
    ['-x', "invalid character 'x' in numeric literal", 2],
    ['1.', "invalid character ' ' after decimal point in numeric literal", 2],
    ['1.x', "invalid character 'x' after decimal point in numeric literal", 3],
    ['1e+', "invalid character ' ' in exponent of numeric literal", 3],
    ['"\n"', "invalid character '\\n' in string literal", 2],
    ['"\\x"', "invalid character 'x' in string escape code", 3],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape", 6],
    ['{"a":[{"b":"\\u', "invalid character ' ' in \\u hexadecimal character escape", 14],
    ['\u{1f600}', "invalid character 'ð' looking for beginning of value", 1],
  ])('%j', (text, message, offset) => {
    const error = catchError(() => new JsonReader(text).read())
    expect(error).toBeInstanceOf(JsonSyntaxError)
    expect([(error as Error).message, (error as JsonSyntaxError).offset]).toEqual([message, offset])
    expect(catchError(() => parseJson(text))).toMatchObject({ message })
  })

  test('names the byte instead of the character when the input is not UTF-8', () => {
    const error = catchError(() => parseJson(Uint8Array.of(0x81, 0x20)))
    expect(error).toMatchObject({ message: "invalid character '\\u0081' looking for beginning of value" })
  })

  test('rejects numbers beyond float64', () => {
    expect(() => new JsonReader('1e400').read()).toThrow(
      'json: cannot unmarshal number 1e400 into Go value of type float64',
    )
  })

  test('rejects input nested deeper than Go allows', () => {
    expect(() => new JsonReader('['.repeat(10_001)).read()).toThrow("invalid character '[' exceeded max depth")
    expect(() => new JsonReader('{"a":'.repeat(10_001)).read()).toThrow("invalid character '{' exceeded max depth")
  })
})

describe('parseJson()', () => {
  test('keeps integers of up to 64 bits exactly', () => {
    expect(parseJson('[9007199254740993,-9223372036854775808,9007199254740991]')).toEqual([
      9007199254740993n,
      -9223372036854775808n,
      9007199254740991,
    ])
  })

  test('reads integers beyond 64 bits as floats', () => {
    expect(parseJson('9223372036854775808')).toBe(2 ** 63)
  })

  test('replaces an unpaired surrogate', () => {
    expect(parseJson('["\\ud800","\\udc00x","\\ud83d\\ude00","\\ud800\\u0041"]')).toEqual([
      '\ufffd',
      '\ufffdx',
      '😀',
      '\ufffdA',
    ])
  })

  test('keeps a field called __proto__ as data', () => {
    const value = new JsonReader('{"__proto__":{"x":1}}').read() as object
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  test('agrees with JSON.parse on every JSON text', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(asNumbers(new JsonReader(text).read())).toEqual(asNumbers(JSON.parse(text)))
      }),
    )
  })

  test('rejects the texts that JSON.parse rejects', () => {
    const almost = fc.array(
      fc.constantFrom('{', '}', '[', ']', '"a"', ':', ',', '1', '-', '.', 'e', 'true', 'nul', ' ', '"'),
      {
        maxLength: 8,
      },
    )
    fc.assert(
      fc.property(almost, (tokens) => {
        const text = tokens.join('')
        expect(succeeds(() => new JsonReader(text).read())).toBe(succeeds(() => JSON.parse(text)))
      }),
      { numRuns: 2000 },
    )
  })
})

const configMap: JSONSchemaProps = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        ownerReferences: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
      },
    },
    data: { type: 'object', additionalProperties: { type: 'string' } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
}

describe('decodeJson()', () => {
  test('reports unknown and duplicate fields in document order', () => {
    const text = '{"metadata":{"nosuchmeta":1},"nosuch":{"a":1,"a":2},"data":{"k":"1","k":"2"},"data":{"l":"3"}}'
    expect(decodeJson(text, { strict: true, schema: configMap })).toEqual({
      value: { metadata: {}, data: { k: '2', l: '3' } },
      strictErrors: [
        'unknown field "metadata.nosuchmeta"',
        'unknown field "nosuch"',
        'duplicate field "data.k"',
        'duplicate field "data"',
      ],
    })
  })

  test('matches field names case-sensitively', () => {
    const { value, strictErrors } = decodeJson('{"Data":{},"kind":"ConfigMap"}', { strict: true, schema: configMap })
    expect(value).toEqual({ kind: 'ConfigMap' })
    expect(strictErrors).toEqual(['unknown field "Data"'])
  })

  test('names list elements by index', () => {
    const text = '{"metadata":{"ownerReferences":[{},{"x":1}]}}'
    expect(decodeJson(text, { strict: true, schema: configMap }).strictErrors).toEqual([
      'unknown field "metadata.ownerReferences[1].x"',
    ])
  })

  test('keeps the earlier value of a field that is null the second time, and merges repeated lists, if asked to', () => {
    const item: JSONSchemaProps = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } }
    const schema: JSONSchemaProps = {
      type: 'object',
      properties: { x: { type: 'string' }, l: { type: 'array', items: item } },
    }
    const text = '{"x":"1","x":null,"l":[{"a":"1"}],"l":[{"b":"2"},{"b":"3"}]}'
    const { value } = decodeJson(text, { strict: true, schema, keepRepeated: true })
    expect(value).toEqual({ x: new RepeatedNull('1'), l: [{ a: '1', b: '2' }, { b: '3' }] })
    expect(decodeJson(text, { strict: true, schema }).value).toEqual({ x: null, l: [{ b: '2' }, { b: '3' }] })
  })

  test('keeps the last duplicate field without a schema', () => {
    expect(decodeJson('{"data":{"a":1},"data":{"b":2}}', { strict: true })).toEqual({
      value: { data: { b: 2 } },
      strictErrors: ['duplicate field "data"'],
    })
  })

  test('keeps untyped fields without checking inside them', () => {
    expect(decodeJson('{"free":{"a":[{"b":1,"b":2}]}}', { strict: true, schema: configMap })).toEqual({
      value: { free: { a: [{ b: 2 }] } },
      strictErrors: [],
    })
  })

  test('reports duplicates at every depth without a schema', () => {
    const { strictErrors } = decodeJson('{"free":{"a":[{"b":1,"b":2}]}}', { strict: true })
    expect(strictErrors).toEqual(['duplicate field "free.a[0].b"'])
  })

  test('drops unknown fields silently when not strict', () => {
    expect(decodeJson('{"nosuch":1}', { schema: configMap })).toEqual({ value: {}, strictErrors: [] })
  })

  test('reports each problem once and at most one hundred', () => {
    const fields = Array.from({ length: 150 }, (_, i) => `"f${i}":1,"f${i}":1`)
    expect(decodeJson(`{${fields}}`, { strict: true, schema: configMap }).strictErrors).toHaveLength(100)
  })

  test('strictDecodingMessage() combines strict errors', () => {
    expect(strictDecodingMessage(['unknown field "a"', 'duplicate field "b"'])).toBe(
      'strict decoding error: unknown field "a", duplicate field "b"',
    )
  })
})

describe('encodeJson()', () => {
  test.each([
    [{ a: 1n << 60n, b: '<&>\u2028' }, '{"a":1152921504606846976,"b":"\\u003c\\u0026\\u003e\\u2028"}'],
    ['\ud800 \\ud800 \b', '"\\ufffd \\\\ud800 \\b"'],
    [{ a: undefined, b: [], c: {} }, '{"b":[],"c":{}}'],
  ])('prints %o as Go does', (value, text) => {
    expect(encodeJson(value)).toBe(text)
  })

  test('sorts fields by bytes with sortKeys', () => {
    expect(encodeJson({ b: 1, a: { '\uffff': 1, '😀': 2 } }, { sortKeys: true })).toBe(
      '{"a":{"\uffff":1,"😀":2},"b":1}',
    )
  })

  test('indents the same way with and without bigints', () => {
    const value = { a: [1, { b: [] }], c: {} }
    expect(encodeJson({ ...value, d: 1n }, { indent: '  ' })).toBe(JSON.stringify({ ...value, d: 1 }, undefined, 2))
  })

  test('round-trips through parseJson()', () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        fc.string({ unit: 'grapheme' }),
        fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
        fc.integer(),
        fc.double({ noDefaultInfinity: true, noNaN: true }).map((n) => n + 0),
        fc.constantFrom(null, true, false),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      ),
    })).value
    fc.assert(
      fc.property(json, fc.boolean(), (value, sortKeys) => {
        expect(parseJson(encodeJson(value, { sortKeys }))).toSatisfy(
          (read) => encodeJson(read, { sortKeys }) === encodeJson(value, { sortKeys }),
        )
      }),
    )
  })
})

function asNumbers(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return Number(value) + 0
  if (Array.isArray(value)) return value.map(asNumbers)
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: asNumbers(field),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return copy
}

function succeeds(action: () => unknown): boolean {
  return catchError(action) === undefined
}

function catchError(action: () => unknown): unknown {
  try {
    action()
    return undefined
  } catch (error) {
    return error
  }
}
