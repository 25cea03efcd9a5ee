import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import { Regex } from './regex.ts'
import { RegexAutomaton } from './regex-automaton.ts'
import { parseRegex } from './regex-syntax.ts'

const characters = ['a', 'b', 'c', 'A', '0', '7', '-', '.', '_', '/', '\n', ' ', 'é', '😀', '\ud800']

const texts = fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((parts) => parts.join(''))

const atoms = fc.constantFrom(
  ...['a', 'b', 'c', 'ab', '0', '-', '\\.', '\\-', '\\n', '_', '/', 'é', '😀', '.', '^', '$', ']', '}', '()', '\\/'],
  ...['[a-c]', '[^a]', '[-a]', '[a-]', '[a.-]', '[]a]', '[^]a]', '[\\w.-]', '[[:alpha:]_]', '[^\\d\\n]', '[é-😀]'],
  ...['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '[+--]', '[\\]a]', '[a-b-c]', '(?:)', '[^-a]'],
)

const patterns = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  part: fc.oneof(
    { weight: 6, arbitrary: atoms },
    { weight: 1, arbitrary: tie('pattern').map((inner) => `(${inner})`) },
    { weight: 1, arbitrary: tie('pattern').map((inner) => `(?:${inner})`) },
    {
      weight: 3,
      arbitrary: fc
        .tuple(tie('part'), fc.constantFrom('*', '+', '?', '{2}', '{1,}', '{0,2}', '{1,3}', '*?', '+?'))
        .map(([part, quantifier]) => part + quantifier),
    },
  ),
  pattern: fc
    .array(fc.array(tie('part'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((branches) => branches.map((parts) => parts.join('')).join('|')),
})).pattern

/** Returns the result of the full engine: whether the text matches, or the error. */
function byEngine(pattern: string, text: string): boolean | string {
  try {
    return RE2JS.compile(pattern).test(text)
  } catch (error) {
    // Go appends the unparsable part even if it is empty.
    return (error as Error).message.replace(/[^`]$/, '$&: ``')
  }
}

function byRegex(pattern: string, text: string): boolean | string {
  try {
    return new Regex(pattern).test(text)
  } catch (error) {
    return (error as Error).message
  }
}

describe('Regex', () => {
  it('test() agrees with RE2 on generated patterns', () => {
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 4, maxLength: 4 }), (pattern, samples) => {
        const regex = parseRegex(pattern) === undefined ? undefined : new Regex(pattern)
        for (const text of samples) {
          expect(regex === undefined ? byRegex(pattern, text) : regex.test(text)).toBe(byEngine(pattern, text))
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('accepts and rejects the same patterns as RE2', () => {
    const soup = fc
      .array(fc.constantFrom(...'ab0^$.*+?|()[]{}-\\,:12dwxzQEpbPis'), { maxLength: 10 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(soup, texts, (pattern, text) => {
        expect(byRegex(pattern, text)).toBe(byEngine(pattern, text))
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    ['a label', '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'my-name-1', true],
    ['a label with a dash at the end', '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', 'my-name-', false],
    ['a part of the text', 'b+c', 'aabbbcd', true],
    ['the end only, not before a final newline', 'a$', 'a\n', false],
    ['several anchored branches', '^$|^x+$', '', true],
    ['code points as one character', '^.{2}$', '😀😀', true],
    ['the whole of nothing', '$^', '', true],
  ])('test() of %s', (_, pattern, text, expected) => {
    expect(parseRegex(pattern)).toBeDefined()
    expect(new Regex(pattern).test(text)).toBe(expected)
  })

  it('rejects invalid patterns with the text of RE2', () => {
    expect(() => new Regex('a**')).toThrow('error parsing regexp: invalid nested repetition operator: `**`')
    expect(() => new Regex('(a{100}){100}')).toThrow('error parsing regexp: invalid repeat count: `{100}`')
    expect(() => new Regex('a\\')).toThrow('error parsing regexp: trailing backslash at end of expression: ``')
    expect(() => new Regex('[b-a]')).toThrow('error parsing regexp: invalid character class range: `b-a`')
  })
})

describe('RegexAutomaton', () => {
  it('of() returns undefined for an expression that is too large', () => {
    expect(RegexAutomaton.of(parseRegex('(?:abcdefgh){999}')!)).toBeUndefined()
  })

  it('test() returns undefined when there are too many states', () => {
    const automaton = RegexAutomaton.of(parseRegex('a[ab]{14}c')!)!
    const regex = new Regex('a[ab]{14}c')
    let state = 1
    let text = ''
    for (let i = 0; i < 20_000; i++) {
      state = (state * 1103515245 + 12345) % 2147483648
      text += state > 1073741824 ? 'a' : 'b'
    }
    expect(automaton.test(text)).toBeUndefined()
    expect(regex.test(text)).toBe(false)
    expect(regex.test(`${text}aaaaaaaaaaaaaaac`)).toBe(true)
  })
})
