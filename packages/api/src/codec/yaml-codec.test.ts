import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeYaml, parseYaml } from './decode-yaml.ts'
import { encodeYaml } from './encode-yaml.ts'
import { maxJsonDepth } from './json-reader.ts'
import { looksLikeJson } from './looks-like-json.ts'
import { parseManifests, splitYamlDocuments } from './manifests.ts'
import { compareNaturally } from './natural-order.ts'

describe('parseYaml() reads scalars as kubectl does', () => {
  test.each([
    ['a', 'a'],
    ['yes', true],
    ['y', true],
    ['On', true],
    ['off', false],
    ['"yes"', 'yes'],
    ['!!str yes', 'yes'],
    ['0777', 511],
    ['0o17', 15],
    ['0x1F', 31],
    ['0b11', 3],
    ['1_000', 1000],
    ['-0', 0],
    ['+5', 5],
    ['08', 8],
    ['1e3', 1000],
    ['.5', 0.5],
    ['1.', 1],
    ['1:30', '1:30'],
    ['2001-01-01', '2001-01-01'],
    ['9007199254740993', 9007199254740993n],
    ['18446744073709551615', 2 ** 64],
    ['~', null],
    ['', null],
    ['null', null],
    ['<none>', '<none>'],
    ['1.2.3', '1.2.3'],
    ['-', '-'],
    ['0xZZ', '0xZZ'],
    ['1e400', '1e400'],
    ['123456789012345678901234567890', 1.2345678901234568e29],
    ['!!int "3"', 3],
    ['>\n   fold\n   ed\n\n   end\n', 'fold ed\nend\n'],
    // As in go-yaml, a block without a line break at its end gets none.
    ['>\n   fold\n   ed\n\n   end', 'fold ed\nend'],
  ])('%s', (text, value) => {
    expect(parseYaml(`a: ${text === '-' ? '"-"' : text}`)).toEqual({ a: value })
  })

  test('converts keys to strings', () => {
    expect(parseYaml('on: 1\n0777: 2\n1.5: 3\nn: 4\n')).toEqual({ true: 1, '511': 2, '1.5': 3, false: 4 })
  })

  test('resolves anchors, aliases and merge keys', () => {
    expect(parseYaml('x: &x {a: 1, b: 2}\nw:\n  <<: *x\n  b: 3\nz: *x\n')).toEqual({
      x: { a: 1, b: 2 },
      w: { a: 1, b: 3 },
      z: { a: 1, b: 2 },
    })
  })

  test('rejects a document with excessive aliasing', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`)}]`)
    expect(() => parseYaml(`a0: &a0 x\n${levels.join('\n')}`)).toThrow('yaml: document contains excessive aliasing')
    expect(() => parseYaml('a: &a [*a]')).toThrow("yaml: anchor 'a' value contains itself")
  })

  test('rejects numbers that JSON cannot represent', () => {
    expect(() => parseYaml('a: .inf')).toThrow('json: unsupported value: +Inf')
  })

  test('reads only the first document', () => {
    expect(parseYaml('a: 1\n---\nb: [')).toEqual({ a: 1 })
    expect(parseYaml('')).toBeNull()
  })
})

describe('parseYaml() fails as go-yaml does', () => {
  test.each([
    ['a: b: c', 'yaml: mapping values are not allowed in this context'],
    ['x: 1\na: b: c', 'yaml: line 2: mapping values are not allowed in this context'],
    ['a: 1\n  b: 2\n', 'yaml: line 2: mapping values are not allowed in this context'],
    ['x: 1\na:\n\tb: 1', 'yaml: line 3: found character that cannot start any token'],
    ['x: 1\na: @x', 'yaml: line 2: found character that cannot start any token'],
    ['x:\n  - b\n  c: d\n', "yaml: line 2: did not find expected '-' indicator"],
    ['a:\n    b: 1\n  c: 2\n', 'yaml: line 2: did not find expected key'],
    ['x: 1\nkey\nb: 1\n', "yaml: line 3: could not find expected ':'"],
    ['x: 1\na: "b', 'yaml: line 2: found unexpected end of stream'],
    ['x: 1\na: [1, 2\nb: 1\n', "yaml: line 2: did not find expected ',' or ']'"],
    ['a: {b: c', "yaml: line 1: did not find expected ',' or '}'"],
    ['a: [b, c', "yaml: line 1: did not find expected ',' or ']'"],
    ['a: [b, c\n', "yaml: line 1: did not find expected ',' or ']'"],
    ['a: b\n\tc: d', 'yaml: line 2: found a tab character that violates indentation'],
    ['a: |\n b\nc', "yaml: line 4: could not find expected ':'"],
    ['a: |\n b\nc\n', "yaml: line 4: could not find expected ':'"],
    ['a: *x', "yaml: unknown anchor 'x' referenced"],
    ['x: 1\na: "\\z"', 'yaml: line 2: found unknown escape character'],
    ['a: \u0007', 'yaml: control characters are not allowed'],
  ])('%j', (text, message) => {
    expect(() => parseYaml(text)).toThrow(message)
  })
})

describe('decodeYaml()', () => {
  const schema = {
    properties: { spec: { properties: { n: { type: 'integer' } } }, data: { additionalProperties: {} } },
  }

  test('reports duplicate keys by line and unknown fields by name', () => {
    const text = 'data:\n  k: v\n  k: w\nzz: 1\nspec:\n  n: 1\n  "n": 1\nnosuch: 2\n'
    expect(decodeYaml(text, { strict: true, schema })).toEqual({
      value: { data: { k: 'w' }, spec: { n: 1 } },
      strictErrors: [
        'yaml: unmarshal errors:\n  line 3: key "k" already set in map',
        'unknown field "nosuch"',
        'unknown field "spec.false"',
        'unknown field "zz"',
      ],
    })
  })

  test('reports two spellings of the same boolean key as duplicates', () => {
    expect(decodeYaml('spec:\n  n: 1\n  no: 2\n', { strict: true })).toEqual({
      value: { spec: { false: 2 } },
      strictErrors: ['yaml: unmarshal errors:\n  line 3: key false already set in map'],
    })
  })

  test('reads JSON as YAML', () => {
    expect(decodeYaml('{"data":{"k":"v","k":"w"}}', { strict: true }).strictErrors).toEqual([
      'yaml: unmarshal errors:\n  line 1: key "k" already set in map',
    ])
  })
})

describe('encodeYaml() prints as kubectl does', () => {
  test.each<[unknown, string]>([
    [{ b: 1, a: [1, { x: 2, y: [] }], c: {} }, 'a:\n- 1\n- x: 2\n  "y": []\nb: 1\nc: {}\n'],
    [{ a: [['x', 'z'], []] }, 'a:\n- - x\n  - z\n- []\n'],
    [{ a: null, b: true, c: 1.5, d: 10n ** 18n, e: -3 }, 'a: null\nb: true\nc: 1.5\nd: 1000000000000000000\ne: -3\n'],
    [
      { a: 'yes', b: '1', c: '', d: 'null', e: '1:30', f: '2001-01-01', g: '0x1' },
      'a: "yes"\nb: "1"\nc: ""\nd: "null"\ne: "1:30"\nf: "2001-01-01"\ng: "0x1"\n',
    ],
    [
      { a: 'plain text', b: 'a: b', c: '- x', d: "it's", e: '#x', f: 'a #b', g: ' x' },
      "a: plain text\nb: 'a: b'\nc: '- x'\nd: it's\ne: '#x'\nf: 'a #b'\ng: ' x'\n",
    ],
    [
      { a: 'x\ny\n', b: 'x\ny', c: 'x\n\n', d: ' x\ny' },
      'a: |\n  x\n  y\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2-\n   x\n  y\n',
    ],
    [
      { a: 'tab\there\n', b: 'trailing \nspace', c: '😀', d: 'é' },
      'a: "tab\\there\\n"\nb: "trailing \\nspace"\nc: "\\U0001F600"\nd: é\n',
    ],
    [{ on: 1, a10: 1, a2: 2 }, 'a2: 2\na10: 1\n"on": 1\n'],
    [{ a: 'x\n\n' }, 'a: |+\n  x\n\n'],
    [{ a: '\n' }, 'a: |2+\n\n'],
    [[], '[]\n'],
    [{}, '{}\n'],
    ['x', 'x\n'],
    [{ a: "it's: x" }, "a: 'it''s: x'\n"],
  ])('%o', (value, text) => {
    expect(encodeYaml(value)).toBe(text)
  })

  test('folds long text at spaces', () => {
    const long = Array.from({ length: 24 }, (_, i) => `word${i}`).join(' ')
    const text = encodeYaml({ message: long })
    expect(text).toBe(
      'message: word0 word1 word2 word3 word4 word5 word6 word7 word8 word9 word10 word11\n' +
        '  word12 word13 word14 word15 word16 word17 word18 word19 word20 word21 word22 word23\n',
    )
    expect(parseYaml(text)).toEqual({ message: long })
  })

  test('keeps the order of fields with sortKeys: false', () => {
    expect(encodeYaml({ b: 1, a: 2 }, { sortKeys: false })).toBe('b: 1\na: 2\n')
  })

  test('round-trips through parseYaml()', () => {
    const text = fc.oneof(
      fc.string({
        unit: fc.constantFrom('a', ' ', '\n', ':', '-', '#', "'", '"', '\\', '1', '.', '\t', '😀', '{', '&', '%', 'é'),
      }),
      fc.constantFrom(
        'yes',
        'null',
        '~',
        '1e3',
        '0777',
        '---',
        '...',
        '<<',
        '2001-01-01',
        '1:30',
        '=',
        '.inf',
        '? a',
        '| x',
      ),
      fc.lorem({ maxCount: 30 }),
    )
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        text,
        fc.integer(),
        fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n - 1n }),
        fc.double({ noDefaultInfinity: true, noNaN: true }).filter((n) => !Number.isInteger(n)),
        fc.constantFrom(null, true, false),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.dictionary(text, tie('value'), { maxKeys: 4 }),
      ),
    })).value
    fc.assert(
      fc.property(fc.dictionary(text, json, { maxKeys: 4 }), (value) => {
        expect(parseYaml(encodeYaml(value))).toEqual(value)
      }),
      { numRuns: 1000 },
    )
  })
})

test('compareNaturally() is antisymmetric', () => {
  const key = fc.string({ unit: fc.constantFrom('a', 'b', '0', '1', '2', '-', '.'), maxLength: 6 })
  fc.assert(
    fc.property(key, key, (a, b) => {
      expect(Math.sign(compareNaturally(a, b))).toBe(-Math.sign(compareNaturally(b, a)) + 0)
      expect(compareNaturally(a, b) === 0).toBe(a === b)
    }),
  )
})

describe('manifests', () => {
  test('splitYamlDocuments() splits at document separators', () => {
    expect(splitYamlDocuments('---\na: 1\n--- # two\n\n---\nb: 2')).toEqual(['a: 1\n', 'b: 2\n'])
    expect(() => splitYamlDocuments('a: 1\n--- b: 2\n')).toThrow('invalid Yaml document separator: b: 2')
  })

  test('parseManifests() reads YAML and JSON', () => {
    expect([looksLikeJson(' \n{"a":1}'), looksLikeJson('a: {}')]).toEqual([true, false])
    expect(parseManifests('{"a":"}"}\n{"b":2}')).toEqual([{ a: '}' }, { b: 2 }])
    expect(parseManifests('{a: 1}\n---\nb: 2\n---\n# nothing\n')).toEqual([{ a: 1 }, { b: 2 }])
    expect(() => parseManifests('x: 1\na: b: c')).toThrow(
      'error converting YAML to JSON: yaml: line 2: mapping values are not allowed in this context',
    )
  })
})

test.each(['{"a":', '['])('encodeYaml() writes values that are nested as deep as JSON may be: %s', (opening) => {
  const closing = opening === '[' ? ']' : '}'
  const value: unknown = JSON.parse(`${opening.repeat(maxJsonDepth)}1${closing.repeat(maxJsonDepth)}`)
  expect(encodeYaml(value)).toContain('1\n')
})

describe('parseYaml() reads JSON as go-yaml does', () => {
  test.each([
    ['{"a":"x\u0085y"}', { a: 'x y' }],
    ['{"a":"x\u2028 y"}', { a: 'x\u2028y' }],
    [`{"${'k'.repeat(1022)}":1}`, { ['k'.repeat(1022)]: 1 }],
    [`{"a":"${'v":'.replaceAll('"', '\\"').repeat(1000)}"}`, { a: 'v":'.repeat(1000) }],
  ])('%.40j', (text, value) => {
    expect(parseYaml(text)).toEqual(value)
  })

  test.each([
    ['{"a":"\\/b"}', 'found unknown escape character'],
    ['{"a"\n:"b"}', "line 1: did not find expected ',' or '}'"],
    [`{"${'k'.repeat(1023)}":1}`, "did not find expected ',' or '}'"],
    ['{"a":"x\x7fy"}', 'control characters are not allowed'],
  ])('refuses %.40j', (text, message) => {
    expect(() => parseYaml(text)).toThrow(message)
  })
})
