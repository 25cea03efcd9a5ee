import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeYaml, parseYaml, readYaml } from '../decode-yaml.ts'
import golden from './testdata/go-yaml.golden.json' with { type: 'json' }
import { YamlScanner } from './yaml-scanner.ts'
import { maxAliasedCharacters, maxRepeatedKeys } from './yaml-values.ts'

type Recorded = { readonly text: string; readonly value?: unknown; readonly error?: string }

describe('readYaml() agrees with kubectl', () => {
  test.each(golden as Recorded[])('$text', ({ text, value, error }) => {
    if (error !== undefined) expect(errorOf(text)).toBe(error)
    else expect(withoutNulls(readYaml(text).value) ?? {}).toEqual(value)
  })
})

function errorOf(text: string): string | undefined {
  try {
    readYaml(text)
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

// The values were recorded as merge patches, which drop fields that are null.
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  return Object.fromEntries(fields.map(([key, field]) => [key, withoutNulls(field)]))
}

// Aliases may multiply the nodes of a document; go-yaml's budget ends at about this number.
const aliasBudget = 1_200_000

/** The steps that a text takes; for an invalid text, those of its tokens. */
function stepsOf(text: string): number {
  if (errorOf(text) === undefined) return readYaml(text).steps
  const scanner = new YamlScanner(text)
  try {
    while (scanner.take().type !== 'stream end');
  } catch {
    // Counts the steps up to the error.
  }
  return scanner.steps
}

describe('readYaml() takes a number of steps in proportion to the text', () => {
  const many = 30_000
  const fill = (piece: string, before = '', after = ''): string => before + piece.repeat(many) + after
  const list = (item: (i: number) => string): string => Array.from({ length: many }, (_, i) => item(i)).join('\n')

  test.each([
    ['empty explicit keys', fill('? a\n')],
    ['nested explicit keys', `${'? '.repeat(900)}x`],
    ['anchors', list((i) => `- &a${i} x`)],
    ['aliases', fill('- *a\n', '- &a x\n')],
    ['one key again and again', fill('a: 1\n')],
    ['many keys', list((i) => `k${i}: 1`)],
    ['carriage returns', fill('\r')],
    ['lines that end with a carriage return', fill('a: b\r')],
    ['empty flow maps', fill('{},', '[', ']')],
    ['empty flow sequences', fill('[],', '[', ']')],
    ['flow sequences', fill('[a, b],', '[', ']')],
    ['pairs in a flow sequence', fill('a: b,', '[', ']')],
    ['flow collections as keys', fill('[[[[a]]]]: b, ', '{', '}')],
    ['nested flow collections', fill(`${'['.repeat(500)}${']'.repeat(500)},`.slice(0, 40), '- ', '')],
    ['empty lines in a quoted text', fill('\n', 'a: "', '"')],
    ['blanks in a quoted text', fill(' \t', 'a: "', '"')],
    ['lines of a plain text', fill(' a\n', 'a: ')],
    ['empty lines of a block', fill(' \n', 'a: |\n')],
    ['escapes', fill('\\u00e9', 'a: "', '"')],
    ['tags', fill('- !a b\n')],
    ['tag directives', list((i) => `%TAG !a${i}! x`)],
    ['comments', fill('#\n', 'a: b\n')],
    ['wide characters', fill('[\u{1f600}')],
    ['digits', fill('9', 'a: ')],
    ['hexadecimal digits', fill('f', 'a: 0x')],
  ])('%s', (_, text) => {
    expect(stepsOf(text) / text.length).toBeLessThan(6)
  })

  test.each([
    [
      'nested',
      `a0: &a0 x\n${Array.from({ length: 40 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join('\n')}`,
    ],
    ['wide', `x: &x [${'a,'.repeat(20_000)}]\ny:\n${'- *x\n'.repeat(10_000)}`],
    ['merged', `x: &x {${Array.from({ length: 3000 }, (_, i) => `k${i}: 1`)}}\ny:\n${'  <<: *x\n'.repeat(5000)}`],
    ['long', `- &a ${'x'.repeat(50_000)}\n${'- *a\n'.repeat(10_000)}`],
  ])('refuses %s aliases', (_, text) => {
    expect(() => readYaml(text)).toThrow('yaml: document contains excessive aliasing')
  })

  test('accepts aliases within the budget', () => {
    const { value, steps } = readYaml(`x: &x [${'a,'.repeat(1000)}]\nz:\n${'- *x\n'.repeat(90)}`)
    expect((value as { z: unknown[][] }).z.map((list) => list.length)).toEqual(Array(90).fill(1000))
    expect(steps).toBeLessThan(aliasBudget)
    const text = 'x'.repeat(maxAliasedCharacters / 4)
    expect(readYaml(`- &a ${text}\n- *a\n- *a\n- *a\n- *a\n`).value).toEqual(Array(5).fill(text))
    expect(() => readYaml(`- &a ${text}\n${'- *a\n'.repeat(5)}`)).toThrow('excessive aliasing')
  })

  test('any combination of syntax', () => {
    const piece = fc.constantFrom(
      ...['a', 'a: ', '- ', '? ', ': ', '\n', '\n  ', '\n', ' ', '\t', '[', ']', '{', '}', ', ', '"', "'", '#', '|\n '],
      ...[
        '&x ',
        '*x',
        '!a ',
        '\r',
        '<<: ',
        '{}',
        '[]',
        '[a: b]',
        '"a": ',
        '\\',
        '0',
        '\u2028',
        '\u{1f600}',
        '...',
        '%TAG ',
      ],
    )
    const part = fc.tuple(fc.array(piece, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 400 }))
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
        const text = parts.map(([pieces, times]) => pieces.join('').repeat(times)).join('')
        const bound = text.includes('*') ? aliasBudget : 1000
        expect(stepsOf(text), JSON.stringify(text.slice(0, 200))).toBeLessThan(6 * text.length + bound)
      }),
      { numRuns: 1000 },
    )
  })
})

describe('readYaml() limits the depth', () => {
  test.each([
    ['brackets', (n: number) => '['.repeat(n) + ']'.repeat(n)],
    ['braces', (n: number) => `${'{a: '.repeat(n)}1${'}'.repeat(n)}`],
    ['tagged brackets', (n: number) => '!a ['.repeat(n) + ']'.repeat(n)],
    ['lists on one line', (n: number) => `${'- '.repeat(n)}x`],
    ['indentation', (n: number) => `${Array.from({ length: n }, (_, i) => `${' '.repeat(i)}a:`).join('\n')} 1`],
    ['aliases', (n: number) => `- &a0 x\n${Array.from({ length: n }, (_, i) => `- &a${i + 1} [*a${i}]`).join('\n')}`],
  ])('of %s', (kind, make) => {
    if (kind !== 'aliases') expect(() => readYaml(make(900))).not.toThrow()
    expect(() => readYaml(make(1100))).toThrow(/exceeded max depth of 10000|excessive aliasing/)
    expect(() => readYaml(make(5000))).toThrow(/exceeded max depth of 10000|excessive aliasing/)
  })

  test('and rejects texts of several megabytes without aborting the process', () => {
    expect(() => parseYaml('['.repeat(1_500_000))).toThrow('yaml: exceeded max depth of 10000')
    expect(() => parseYaml('- '.repeat(1_500_000))).toThrow('yaml: exceeded max depth of 10000')
    expect(() => parseYaml('? '.repeat(1_500_000))).toThrow('yaml: exceeded max depth of 10000')
  })

  test('but ignores brackets inside strings', () => {
    expect(() =>
      readYaml(`a: "${'['.repeat(5000)}"\nb: |\n  ${'[31m x'.repeat(5000)}\nc: ${'-'.repeat(3000)}`),
    ).not.toThrow()
  })
})

test('decodeYaml() reports a limited number of duplicate keys', () => {
  const { value, strictErrors } = decodeYaml('a: 1\n'.repeat(maxRepeatedKeys + 10), { strict: true })
  expect(value).toEqual({ a: 1 })
  expect(strictErrors[0]?.split('\n')).toHaveLength(maxRepeatedKeys + 1)
})

test('decodeYaml() reports keys that a merge sets again', () => {
  const text = 'x: &x {a: 1}\nz:\n  <<: *x\n  a: 2\n'
  expect(decodeYaml(text, { strict: true })).toEqual({
    value: { x: { a: 1 }, z: { a: 2 } },
    strictErrors: ['yaml: unmarshal errors:\n  line 4: key "a" already set in map'],
  })
})
