import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelCompileError } from '../values/cel-error.ts'
import { toNative } from '../values/native.ts'
import { parse } from './parser.ts'

const OPERAND =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"

function issuesOf(source: string): string[] {
  try {
    parse(source, CelEnvironment.create().macros)
  } catch (e) {
    if (!(e instanceof CelCompileError)) throw e
    return e.issues.map((i) => `${i.line}:${i.column + 1}: ${i.message}`)
  }
  return []
}

describe('parse() reports other errors of an expression with syntax errors', () => {
  test.each([
    ['has(1', ['1:5: invalid argument to has() macro', "1:6: Syntax error: missing ')' at '<EOF>'"]],
    ['has(x.)', ['1:5: invalid argument to has() macro', "1:7: Syntax error: no viable alternative at input '.)'"]],
    ['has(x.y && a && !b', ['1:14: invalid argument to has() macro', "1:19: Syntax error: missing ')' at '<EOF>'"]],
    [
      'has(x.?)',
      [
        '1:6: invalid argument to has() macro',
        "1:8: Syntax error: mismatched input ')' expecting {IDENTIFIER, ESC_IDENTIFIER}",
        '1:8: unsupported ident kind',
      ],
    ],
    ['x.all(.,1)', ['1:0: argument must be a simple name', "1:8: Syntax error: no viable alternative at input '.,'"]],
    ['has(T{m)', ['1:6: invalid argument to has() macro', "1:8: Syntax error: mismatched input ')' expecting ':'"]],
    ['T{`a`:1}}', ["1:3: unsupported syntax: '`'", "1:9: Syntax error: extraneous input '}' expecting <EOF>"]],
    ['(a b) + for', ["1:4: Syntax error: extraneous input 'b' expecting ')'", '1:9: reserved identifier: for']],
    [
      '(a b) + 99999999999999999999',
      ["1:4: Syntax error: extraneous input 'b' expecting ')'", '1:9: invalid int literal'],
    ],
  ])('%j', (source, issues) => {
    expect(issuesOf(source)).toEqual(issues)
  })
})

describe('parse() reports syntax errors with the texts of cel-go', () => {
  test.each([
    ['self >', [`1:7: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`]],
    ['', [`1:1: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`]],
    ['x.', ["1:3: Syntax error: no viable alternative at input '.'"]],
    ['x.5', ["1:2: Syntax error: extraneous input '.5' expecting <EOF>"]],
    ['x."f"', [`1:3: Syntax error: no viable alternative at input '."f"'`]],
    ['x.null', ["1:3: Syntax error: mismatched input 'null' expecting IDENTIFIER"]],
    ['a b', ["1:3: Syntax error: extraneous input 'b' expecting <EOF>"]],
    ['a b c', ["1:3: Syntax error: mismatched input 'b' expecting <EOF>"]],
    ['for b', ['1:1: reserved identifier: for', "1:5: Syntax error: extraneous input 'b' expecting <EOF>"]],
    ['x. // c', ["1:8: Syntax error: no viable alternative at input '. // c'"]],
    [
      'x. &q 1',
      [
        "1:4: Syntax error: token recognition error at: '&q'",
        "1:7: Syntax error: no viable alternative at input '.  1'",
      ],
    ],
    ['-1 -1 -1 < 2 }', ["1:14: Syntax error: extraneous input '}' expecting <EOF>"]],
    ['(a', ["1:3: Syntax error: missing ')' at '<EOF>'"]],
    ['a)', ["1:2: Syntax error: extraneous input ')' expecting <EOF>"]],
    ['f(a', ["1:4: Syntax error: missing ')' at '<EOF>'"]],
    ['f(a,)', [`1:5: Syntax error: mismatched input ')' expecting ${OPERAND}`]],
    ['[1, 2', ["1:6: Syntax error: mismatched input '<EOF>' expecting {']', ','}"]],
    ['{1}', ["1:3: Syntax error: mismatched input '}' expecting ':'"]],
    ['a ? b', ["1:6: Syntax error: mismatched input '<EOF>' expecting ':'"]],
    ['a && && b', [`1:6: Syntax error: extraneous input '&&' expecting ${OPERAND}`]],
    [
      'a = b',
      [
        "1:3: Syntax error: token recognition error at: '= '",
        "1:5: Syntax error: extraneous input 'b' expecting <EOF>",
      ],
    ],
    [
      "a == 'b",
      [
        "1:6: Syntax error: token recognition error at: ''b'",
        `1:8: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`,
      ],
    ],
    [
      'a\n  == #',
      [
        "2:6: Syntax error: token recognition error at: '#'",
        `2:7: Syntax error: mismatched input '<EOF>' expecting ${OPERAND}`,
      ],
    ],
  ])('%j', (source, issues) => {
    expect(issuesOf(source)).toEqual(issues)
  })
})

describe('parse() rejects expressions that the grammar allows', () => {
  test.each([
    ['for', ['1:1: reserved identifier: for']],
    ['has(a)', ['1:5: invalid argument to has() macro']],
    ['a.all(b.c, true)', ['1:8: argument must be a simple name']],
    ['a.map(__result__, 1)', ['1:7: iteration variable overwrites accumulator variable']],
    ['a.all(i, i, true)', ['1:10: duplicate variable name: i']],
    ['9223372036854775808', ['1:1: invalid int literal']],
    ['18446744073709551616u', ['1:1: invalid uint literal']],
    ['1e999', ['1:1: invalid double literal']],
    ["'\\U00110000'", ['1:1: invalid unicode code point']],
    ['a.`b`', ["1:3: unsupported syntax: '`'"]],
    [`${'('.repeat(250)}1${')'.repeat(250)}`, ['-1:0: expression recursion limit exceeded: 250']],
    [`a${'.b'.repeat(251)}`, ['-1:0: max recursion depth exceeded']],
    ['1'.repeat(100_001), ['-1:0: expression code point size exceeds limit: size: 100001, limit 100000']],
  ])('%.40j', (source, issues) => {
    expect(issuesOf(source)).toEqual(issues)
  })
})

describe('parse() limits the work on expressions that do not parse', () => {
  test('reports the token that does not fit without searching for more errors', () => {
    // A diagnosis without a limit takes time in proportion to the length: 20 seconds for the longest expression.
    expect(issuesOf(`[${'1,'.repeat(49_000)}}`)).toEqual(["1:98002: Syntax error: mismatched input '}'"])
  })

  test('reports errors inside deep nesting without exhausting the call stack', () => {
    expect(issuesOf(`self{.names(${'(n, n.f'.repeat(2000)}`)).not.toEqual([])
    expect(issuesOf('a.b(]'.repeat(2000))).not.toEqual([])
  })
})

describe('parse() parses literals', () => {
  const env = CelEnvironment.create()
  test.each([
    ['0x1F', 31],
    ['-0x1f', -31],
    ['--5', 5],
    ['-9223372036854775808', -(2n ** 63n)],
    ['17u', 17],
    ['.5', 0.5],
    ['1.5e3', 1500],
    [`'a"b'`, 'a"b'],
    [`"""a"b\n'c"""`, `a"b\n'c`],
    [String.raw`r'a\n'`, '\\n'.replace('\\n', 'a\\n')],
    [String.raw`'\x41\101\u0041\U0001F600\n\?'`, 'AAA😀\n?'],
    [String.raw`b'\xff\303é'`, new Uint8Array([255, 195, 195, 169])],
    ['[1, 2,]', [1, 2]],
    ["{'a': 1,}", { a: 1 }],
    ['1 // comment', 1],
    ['!!true', true],
  ])('%s', (source, value) => {
    expect(toNative(env.compile(source).evaluate({}))).toEqual(value)
  })
})

test('parse() accepts any sequence of tokens or reports an issue', () => {
  const tokens =
    "== ! < && || [ ] { } ( ) . , - ? : + * in true null 1 2u 3.5 'a' b'c' x y.z f( .all(i, # = \" `q` as".split(' ')
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...tokens), { maxLength: 25 }), (sequence) => {
      const macros = CelEnvironment.create().macros
      try {
        parse(sequence.join(' '), macros)
      } catch (e) {
        expect(e).toBeInstanceOf(CelCompileError)
        expect((e as CelCompileError).issues.length).toBeGreaterThan(0)
      }
    }),
    { numRuns: 300 },
  )
})

test('compile() errors show the line and position of each issue in source order', () => {
  const source = 'x\n  + 世y'
  expect(() => CelEnvironment.create().compile(source)).toThrow(
    "ERROR: <input>:2:5: Syntax error: token recognition error at: '世'\n |   + 世y\n | ....＾",
  )
  expect(() => CelEnvironment.create().compile('x + y')).toThrow(
    "ERROR: <input>:1:1: undeclared reference to 'x' (in container '')\n | x + y\n | ^\n" +
      "ERROR: <input>:1:5: undeclared reference to 'y' (in container '')\n | x + y\n | ....^",
  )
})
