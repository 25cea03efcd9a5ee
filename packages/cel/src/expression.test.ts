import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CelEnvironment } from './environment.ts'
import { CostMeter } from './expression.ts'
import { CelCostError, CelError, CelPlanError } from './values/cel-error.ts'
import { ANY, DYN, INT, mapType, STRING } from './values/cel-type.ts'
import { CelMap } from './values/collections.ts'
import { toNative } from './values/native.ts'
import type { CelValue } from './values/values.ts'

const env = CelEnvironment.create({ variables: { x: INT, y: INT, d: DYN } })

function evaluate(source: string, variables: Record<string, unknown> = {}): unknown {
  return toNative(env.compile(source).evaluate(variables))
}

describe('evaluate() returns the value', () => {
  test.each<[string, unknown]>([
    ['7 / 2', 3],
    ['-7 / 2', -3],
    ['-7 % 3', -1],
    ['0 * -1', 0],
    ['7u / 2u', 3],
    ['7.0 / 2.0', 3.5],
    ['9007199254740991 + 2', 9007199254740993n],
    ['9223372036854775807 - 9223372036854775807', 0],
    ['3037000500 * 3037000499', 9223372033963249500n],
    ["'a' + 'b'", 'ab'],
    ["size(b'a' + b'bc')", 3],
    ['[1] + [2, 3]', [1, 2, 3]],
    ['1 < 1.5 && 2u > 1 && 1.5 < 2u', true],
    ['dyn(1) == 1.0 && dyn(1u) == 1 && dyn(1.0) == 1u', true],
    ['9007199254740993 == dyn(9007199254740992.0)', false],
    ["dyn('1') == dyn(1)", false],
    ['[1, 2] == dyn([1.0, 2.0])', true],
    ["{'a': 1} == dyn({'a': 1u})", true],
    ['null == dyn(null)', true],
    ["2 in [1, 2] && !('a' in ['b']) && 'k' in {'k': 1}", true],
    ['dyn(1.0) in [1, 2] && dyn(1) in {1u: true}', true],
    ['dyn([1, 2])[1.0]', 2],
    ["'😀é'.size()", 2],
    ["'\uE000' < '😀'", true],
    ["'hello'.contains('ell') && 'hello'.startsWith('he') && 'hello'.endsWith('lo')", true],
    ["'abc'.matches('b') && !matches('abc', '^b')", true],
    ['int("-5") + int(2.9) + int(3u)', 0],
    ['string(1.0) + string(1e21) + string(1.5e-7) + string(2u)', '11e+211.5e-072'],
    ["bool('T') && !bool('false')", true],
    ["string(b'\\xc3\\xa9')", 'é'],
    ['type(1) == int && type([]) == list && type(type(1)) == type && type(null) == null_type', true],
    ["duration('1h30m').getMinutes()", 90],
    ["string(duration('1h1ms'))", '3600.001s'],
    ["timestamp('2024-02-29T23:30:00Z').getDayOfYear()", 59],
    ["timestamp('2024-02-29T23:30:00Z').getDate('+01:00')", 1],
    ["timestamp('2024-07-01T12:00:00Z').getHours('America/New_York')", 8],
    ["timestamp('2023-12-31T00:00:00Z').getDayOfWeek()", 0],
    ["string(timestamp('2024-01-01T00:00:00.5+02:00') + duration('1s'))", '2024-01-01T00:00:01.5+02:00'],
    ["timestamp('2024-01-02T00:00:00Z') - timestamp('2024-01-01T00:00:00Z') == duration('24h')", true],
    ['timestamp(0) < timestamp(1) && int(timestamp(5)) == 5', true],
    ['[3, 4].all(i, v, v == i + 3)', true],
    ["{'a': 1, 'b': 2}.exists(k, k == 'b')", true],
    ['[1, 2, 3].exists_one(i, i > 2)', true],
    ['[1, 2, 3].map(i, i > 1, i * 2)', [4, 6]],
    ['[1, 2, 3].filter(i, i != 2)', [1, 3]],
    ["['a', 'b'].transformMap(i, v, v + string(i))", { 0: 'a0', 1: 'b1' }],
    ["{'a': 1}.transformMapEntry(k, v, {v: k})", { 1: 'a' }],
    ["{'a': 1}.transformList(k, v, v > 0, k)", ['a']],
    ['[[1, 2], [3]].map(l, l.map(e, e + 1))', [[2, 3], [4]]],
    ["{'a': {'b': 1}}.?a.?b.value()", 1],
    ["{'a': 1}.?b.hasValue()", false],
    ["{'a': {'b': 1}}.?a.b.orValue(2)", 1],
    ['[1][?3].orValue(7) + [1][?0].or(optional.of(9)).value()', 8],
    ['optional.of(2).optMap(v, v * 2) == optional.of(4)', true],
    ["{'a': {}}.?a.optFlatMap(v, v.?b).hasValue()", false],
    ["[?{'a': 1}.?a, ?{'a': 1}.?b]", [1]],
    ["{?'k': {'a': 1}.?b}", {}],
    ["optional.ofNonZeroValue('').hasValue() || optional.ofNonZeroValue(1).value() == 1", true],
    ['[1, 2].first().value() + [1, 2].last().value()', 3],
    ['optional.unwrap([optional.of(1), optional.none()])', [1]],
    ['has({"a": 1}.a) && !has({"a": 1}.b)', true],
  ])('%s', (source, value) => {
    expect(evaluate(source)).toEqual(value)
  })
})

describe('evaluate() fails with the message of cel-go', () => {
  test.each([
    ['9223372036854775807 + 1', 'integer overflow'],
    ['-9223372036854775808 - 1', 'integer overflow'],
    ['-(-9223372036854775808)', 'integer overflow'],
    ['-9223372036854775808 / -1', 'integer overflow'],
    ['0u - 1u', 'unsigned integer overflow'],
    ['x / 0', 'division by zero'],
    ['x % 0', 'modulus by zero'],
    ['[1][1]', 'index out of bounds: 1'],
    ['[1][-1]', 'index out of bounds: -1'],
    ["{'a': 1}['b']", 'no such key: b'],
    ['{1: 1}[2]', 'no such key: 2'],
    ['d.a.b', 'no such key: b'],
    ['d.list.a', "unsupported index type 'string' in list"],
    ['dyn(1) + "a"', 'no such overload'],
    ['dyn(true) + 1', 'no such overload: _+_'],
    ['dyn("a") < 1', 'no such overload'],
    ['dyn([1]) < 1', 'no such overload: _<_'],
    ['size(dyn(1))', 'no such overload: size'],
    ['!dyn(1)', 'no such overload'],
    ['dyn(1) && true', 'no such overload'],
    ['dyn(1) ? 1 : 2', 'no such overload'],
    ['int(d.list)', 'no such overload: int(list)'],
    ['int(d.text)', "type conversion error from 'string' to 'int'"],
    ['dyn(1).all(e, true)', "got 'types.Int', expected iterable type"],
    ["d.text.matches(d.text + '(')", 'error parsing regexp: missing closing ): `word(`'],
    ['0.0 / 0.0 < 1.0', 'NaN values cannot be ordered'],
    ['optional.none().value()', 'optional.none() dereference'],
    ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", 'timestamp overflow'],
    ["duration('2562047h') + duration('2562047h')", 'duration overflow'],
    ["timestamp(0).getHours('No/Where')", 'unknown time zone No/Where'],
    ["{'a': 1, 'b': 1}.transformMapEntry(k, v, {v: k}) == {}", 'insert failed: key 1 already exists'],
  ])('%s', (source, message) => {
    const run = (): unknown => evaluate(source, { x: 1, d: { a: {}, list: [], text: 'word' } })
    expect(run).toThrow(CelError)
    expect(run).toThrow(new CelError(message))
  })
})

describe('evaluate() absorbs errors', () => {
  test.each([
    ['false && 1 / x == 1', false],
    ['1 / x == 1 && false', false],
    ['true || 1 / x == 1', true],
    ['1 / x == 1 || true', true],
    ['[0, 1].exists(e, 1 / e == 1)', true],
    ['[1, 0, 2].all(e, 1 / e == 1)', false],
    ['true ? 1 : 1 / x', 1],
  ])('%s', (source, value) => {
    expect(evaluate(source, { x: 0 })).toBe(value)
  })

  test.each([
    '1 / x == 1 && true',
    '1 / x == 1 || false',
    '[0, 1].all(e, 1 / e == 1)',
    '[0].exists(e, 1 / e == 1)',
    '[0].exists_one(e, 1 / e == 1)',
  ])('except in %s', (source) => {
    expect(() => evaluate(source, { x: 0 })).toThrow('division by zero')
  })
})

test('compile() rejects constants that cannot be converted', () => {
  expect(() => env.compile("int('x') == 1")).toThrow(CelPlanError)
  expect(() => env.compile("matches('a', '(')")).toThrow('error parsing regexp: missing closing ): `(`')
})

test('evaluate() requires only the variables that the expression reaches', () => {
  expect(() => evaluate('x + y', { x: 1 })).toThrow('no such attribute(s): y')
  expect(evaluate('x == 1 || y == 1', { x: 1 })).toBe(true)
})

test('evaluate() accepts lazily computed maps as variables', () => {
  class Lazy extends CelMap {
    readonly requested: CelValue[] = []
    readonly size = 1

    get(key: CelValue): CelValue | undefined {
      this.requested.push(key)
      return key === 'a' ? 5 : undefined
    }

    keys(): Iterable<CelValue> {
      return ['a']
    }
  }
  const lazy = new Lazy()
  expect(evaluate('true || d.b', { d: lazy })).toBe(true)
  expect(lazy.requested).toEqual([])
  expect(evaluate('d.a + 1', { d: lazy })).toBe(6)
  expect(lazy.requested).toEqual(['a'])
})

test('evaluate() stops at the cost limit, which no operator absorbs', () => {
  const expression = env.compile('d.all(a, d.all(b, a == b)) || true')
  const meter = new CostMeter(1000)
  const d = Array.from({ length: 100 }, () => 1)
  expect(() => expression.evaluate({ d }, meter)).toThrow(CelCostError)
  expect(() => expression.evaluate({ d }, meter)).toThrow('operation cancelled: actual cost limit exceeded')
  expect(meter.cost).toBeGreaterThan(1000)
  expect(expression.evaluate({ d }, new CostMeter())).toBe(true)
})

test.each([
  ['lists of variables', 'd + d'],
  ['lists of unknown type', 'dyn(d) + dyn(d)'],
])('evaluate() bounds the memory of repeated concatenation: %s', (_, source) => {
  const expression = env.compile(source)
  let d: CelValue = expression.evaluate({ d: [1] })
  let size = 2
  expect(() => {
    for (let i = 0; i < 60; i++) {
      d = expression.evaluate({ d })
      size *= 2
    }
  }).toThrow(CelCostError)
  expect(size).toBeLessThanOrEqual(1_000_000)
})

test('evaluate() charges long concatenated lists by their size, short ones one unit', () => {
  const expression = env.compile('d + d')
  const costOf = (length: number): number => {
    const meter = new CostMeter()
    expression.evaluate({ d: Array.from({ length }, () => 1) }, meter)
    return meter.cost
  }
  expect(costOf(50)).toBe(costOf(1))
  expect(costOf(5000) - costOf(1)).toBe(1000)
})

test('selects() reports whether an expression selects a field of a variable', () => {
  const environment = CelEnvironment.create({ variables: { claims: mapType(STRING, ANY) } })
  const selects = (source: string): boolean => environment.compile(source).selects('claims', 'email')
  for (const source of [
    'claims.email',
    'claims.?email',
    'has(claims.email)',
    "[1].map(x, {'a': claims.email + 'b'})",
  ]) {
    expect(selects(source), source).toBe(true)
  }
  for (const source of ["claims['email']", 'claims.x.email', "'claims.email'", 'claims.other']) {
    expect(selects(source), source).toBe(false)
  }
})

test('uses() reports whether an expression refers to a variable', () => {
  const expression = env.compile('[1].exists(y, y == x)')
  expect([expression.uses('x'), expression.uses('d')]).toEqual([true, false])
})

describe('int arithmetic', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const operators: Record<string, (a: bigint, b: bigint) => bigint> = {
    '+': (a, b) => a + b,
    '-': (a, b) => a - b,
    '*': (a, b) => a * b,
    '/': (a, b) => a / b,
    '%': (a, b) => a % b,
  }
  test.each(Object.keys(operators))('x %s y is exact or overflows at 64 bits', (operator) => {
    const expression = env.compile(`x ${operator} y`)
    fc.assert(
      fc.property(fc.oneof(int64, fc.bigInt(-9n, 9n)), fc.oneof(int64, fc.bigInt(-9n, 9n)), (x, y) => {
        if (y === 0n && '/%'.includes(operator)) return
        const exact = operators[operator]!(x, y)
        const overflows =
          exact > 2n ** 63n - 1n || exact < -(2n ** 63n) || (operator === '%' && x === -(2n ** 63n) && y === -1n)
        if (overflows) expect(() => expression.evaluate({ x, y })).toThrow('integer overflow')
        else expect(BigInt(expression.evaluate({ x, y }) as bigint)).toBe(exact)
      }),
    )
  })

  test('comparison operators agree with bigint comparison', () => {
    const expression = env.compile('[x < y, x <= y, x == y, x > y]')
    fc.assert(
      fc.property(int64, int64, (x, y) => {
        expect(toNative(expression.evaluate({ x, y }))).toEqual([x < y, x <= y, x === y, x > y])
      }),
    )
  })
})
