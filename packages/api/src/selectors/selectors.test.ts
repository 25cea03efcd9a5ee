import { aggregateText, FieldPath } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FieldSelector, parseFieldSelector, unescapeFieldValue } from './field-selector.ts'
import {
  formatLabelSelector,
  labelSelectorAsMap,
  parseToLabelSelector,
  selectorFrom,
  validateLabelSelector,
} from './label-selector.ts'
import { parseSelector } from './parse-selector.ts'
import { newRequirement, Requirement, type SelectionOperator } from './requirement.ts'
import { Selector } from './selector.ts'

describe('parseSelector()', () => {
  test.each([
    ['', ''],
    ['  ', ''],
    ['x=a,y=b,z=c', 'x=a,y=b,z=c'],
    ['z=c,x=a', 'x=a,z=c'],
    ['x==a', 'x==a'],
    ['x != a', 'x!=a'],
    ['x=', 'x='],
    ['x=,z= ', 'x=,z='],
    ['x', 'x'],
    ['!x', '!x'],
    ['! x', '!x'],
    ['x in (b,a)', 'x in (a,b)'],
    ['x in (foo,,baz),y,z notin ()', 'x in (,baz,foo),y,z notin ()'],
    ['x notin (,)', 'x notin ()'],
    ['x in(a,)', 'x in (,a)'],
    ['x in (in,notin)', 'x in (in,notin)'],
    ['in in (in)', 'in in (in)'],
    ['notin=in', 'notin=in'],
    ['x>1,z<5', 'x>1,z<5'],
    ['x=a,\n\ty=b', 'x=a,y=b'],
    ['x in (a,a)', 'x in (a)'],
  ])('parses %j', (text, printed) => {
    expect(parseSelector(text).toString()).toBe(printed)
  })

  test.each([
    ['x y', "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"],
    ['x=a b', "found 'b', expected: ',' or 'end of string'"],
    ['x=a||y=b', 'values[0][x]: Invalid value: "a||y": a valid label must be'],
    ['x==a==b', "found '==', expected: ',' or 'end of string'"],
    ['!x=a', "found '=', expected: ',' or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['x=a,', "found '', expected: identifier after ','"],
    [',x', "found ',', expected: !, identifier, or 'end of string'"],
    ['(x)', "found '(', expected: !, identifier, or 'end of string'"],
    ['x in a', "unable to parse requirement: found 'a' expected: '('"],
    ['x in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['x in (a', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['x in (a b)', "unable to parse requirement: found 'b', expected: ',' or ')'"],
    ['x in (a,=)', "unable to parse requirement: found '=', expected: ',', or identifier"],
    ['x=!', "unable to parse requirement: found '!', expected: identifier"],
    [
      'x>a',
      "unable to parse requirement: values[0]: Invalid value: \"a\": for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'a/b/c=d',
      'unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of alphanumeric',
    ],
  ])('rejects %j with apimachinery’s message', (text, message) => {
    expect(() => parseSelector(text)).toThrow(message)
  })
})

describe('Selector.matches()', () => {
  test.each<[string, Record<string, string> | undefined, boolean]>([
    ['', undefined, true],
    ['x=y', { x: 'y' }, true],
    ['x=y', undefined, false],
    ['x!=y', undefined, true],
    ['x!=y', { x: 'y' }, false],
    ['x notin (a,b)', {}, true],
    ['x notin (a,b)', { x: 'b' }, false],
    ['x in (a,b),y', { x: 'b' }, false],
    ['x in (a,b),y', { x: 'b', y: '' }, true],
    ['!x', { x: '' }, false],
    ['x>5', { x: '6' }, true],
    ['x>5', { x: '5' }, false],
    ['x<5', { x: '-9223372036854775808' }, true],
    ['x<5', { x: 'four' }, false],
    ['x<5', {}, false],
    ['constructor', {}, false],
    ['!toString', {}, true],
  ])('%j on %o is %s', (text, labels, expected) => {
    expect(parseSelector(text).matches(labels)).toBe(expected)
  })

  test('is always false for Selector.nothing', () => {
    const nothing = Selector.nothing.and(newRequirement('x', 'exists', []))
    expect([nothing.isNothing, nothing.matches({ x: '1' }), nothing.toString()]).toEqual([true, false, ''])
  })
})

const key = fc.constantFrom('a', 'b', 'example.com/c', 'in', 'notin')
const value = fc.constantFrom('', '1', '5', 'x', 'y', 'in', 'a.b-c_d')
const requirement = fc.oneof(
  fc.tuple(key, fc.constantFrom<SelectionOperator>('=', '==', '!='), fc.tuple(value)),
  fc.tuple(key, fc.constantFrom<SelectionOperator>('in', 'notin'), fc.uniqueArray(value, { minLength: 1 })),
  fc.tuple(key, fc.constantFrom<SelectionOperator>('exists', '!'), fc.constant([])),
  fc.tuple(key, fc.constantFrom<SelectionOperator>('gt', 'lt'), fc.tuple(fc.constantFrom('1', '5', '77'))),
)
const selector = fc
  .array(requirement, { maxLength: 4 })
  .map((all) => Selector.of(all.map(([k, operator, values]) => new Requirement(k, operator, values))))
const labels = fc.dictionary(key, value)

describe('label selector properties', () => {
  test('parse(print(s)) prints and matches as s does', () => {
    fc.assert(
      fc.property(selector, labels, (s, set) => {
        const again = parseSelector(s.toString())
        expect(again.toString()).toBe(s.toString())
        expect(again.matches(set)).toBe(s.matches(set))
      }),
    )
  })

  test('a selector matches when all of its requirements do', () => {
    fc.assert(
      fc.property(selector, labels, (s, set) => {
        expect(s.matches(set)).toBe(s.requirements.every((r) => r.matches(set)))
      }),
    )
  })

  test('Selector.fromLabels() matches the labels it was built from', () => {
    fc.assert(fc.property(labels, (set) => Selector.fromLabels(set).matches(set)))
  })

  test('parseToLabelSelector() and selectorFrom() mean the same as parseSelector()', () => {
    const expressible = selector.filter(
      (s) =>
        s.requirements.every((r) => !['gt', 'lt', '!='].includes(r.operator)) &&
        new Set(s.requirements.map((r) => r.key)).size === s.requirements.length,
    )
    fc.assert(
      fc.property(expressible, labels, (s, set) => {
        expect(selectorFrom(parseToLabelSelector(s.toString())).matches(set)).toBe(s.matches(set))
      }),
    )
  })
})

describe('selectorFrom()', () => {
  test('selects nothing when absent and everything when empty', () => {
    expect(selectorFrom(undefined)).toBe(Selector.nothing)
    expect(selectorFrom(null)).toBe(Selector.nothing)
    expect(selectorFrom({})).toBe(Selector.everything)
  })

  test.each([
    [{ key: 'a', operator: 'Gt', values: ['1'] }, '"Gt" is not a valid label selector operator'],
    [
      { key: 'a', operator: 'In' },
      "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
    ],
    [
      { key: 'a', operator: 'Exists', values: ['b'] },
      'values: Invalid value: ["b"]: values set must be empty for exists and does not exist',
    ],
  ])('rejects %o', (expression, message) => {
    expect(() => selectorFrom({ matchExpressions: [expression] })).toThrow(message)
  })

  test('prints in canonical order', () => {
    const text = formatLabelSelector({ matchLabels: { b: '1' }, matchExpressions: [{ key: 'a', operator: 'Exists' }] })
    expect(text).toBe('a,b=1')
    expect(formatLabelSelector({})).toBe('<none>')
    expect(formatLabelSelector({ matchLabels: { '': '' } })).toBe('<error>')
  })
})

test('labelSelectorAsMap() accepts only single values', () => {
  expect(
    labelSelectorAsMap({ matchLabels: { a: '1' }, matchExpressions: [{ key: 'b', operator: 'In', values: ['2'] }] }),
  ).toEqual({
    a: '1',
    b: '2',
  })
  expect(() => labelSelectorAsMap({ matchExpressions: [{ key: 'b', operator: 'In', values: [] }] })).toThrow(
    'operator "In" without a single value cannot be converted into the old label selector format',
  )
  expect(() => labelSelectorAsMap({ matchExpressions: [{ key: 'b', operator: 'Exists' }] })).toThrow(
    'operator "Exists" cannot be converted into the old label selector format',
  )
})

test('parseToLabelSelector() rejects > and <', () => {
  expect(() => parseToLabelSelector('a>1')).toThrow('"gt" isn\'t supported in label selectors')
  expect(() => parseToLabelSelector('a b')).toThrow(
    "couldn't parse the selector string \"a b\": unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
  )
})

test('validateLabelSelector() reports every problem with its path', () => {
  const errors = validateLabelSelector(
    {
      matchLabels: { '-a': 'ok' },
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'a', operator: 'Exists', values: ['x'] },
        { key: 'a', operator: 'Near' },
        { key: 'a', operator: 'In', values: ['-'] },
      ],
    },
    FieldPath.of('spec', 'selector'),
  )
  expect(errors.map((error) => [error.type, error.field])).toEqual([
    ['FieldValueInvalid', 'spec.selector.matchLabels'],
    ['FieldValueRequired', 'spec.selector.matchExpressions[0].values'],
    ['FieldValueForbidden', 'spec.selector.matchExpressions[1].values'],
    ['FieldValueInvalid', 'spec.selector.matchExpressions[2].operator'],
    ['FieldValueInvalid', 'spec.selector.matchExpressions[3].values[0]'],
  ])
  expect(aggregateText(errors.slice(1, 2))).toBe(
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  )
})

describe('parseFieldSelector()', () => {
  test.each([
    ['', ''],
    [',', ''],
    ['metadata.name=a', 'metadata.name=a'],
    ['b==1,a!=2', 'a!=2,b=1'],
    ['a=x\\,y\\=z\\\\', 'a=x\\,y\\=z\\\\'],
    ['a=', 'a='],
    ['=x', '=x'],
    ['=', ''],
    ['a=b,!=', 'a=b'],
  ])('parses %j', (text, printed) => {
    expect(parseFieldSelector(text).toString()).toBe(printed)
  })

  test.each([
    ['nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    [
      'a=1,metadata.name in (a)',
      "invalid selector: 'a=1,metadata.name in (a)'; can't understand 'metadata.name in (a)'",
    ],
    ['a=b=c', 'invalid field selector: unescaped character in value: 61'],
    ['a=\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=\\', 'invalid field selector: invalid escape sequence: \\'],
  ])('rejects %j', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(message)
  })

  test('parse(print(s)) is s for any value', () => {
    const field = fc.constantFrom('metadata.name', 'spec.nodeName', 'x')
    const fields = fc.dictionary(field, fc.string({ unit: fc.constantFrom('\\', ',', '=', '!', 'a', '😀') }))
    fc.assert(
      fc.property(fields, fields, (set, object) => {
        const s = FieldSelector.fromFields(set)
        const again = parseFieldSelector(s.toString())
        expect(new Set(again.requirements)).toEqual(new Set(s.requirements))
        expect(again.matches(object)).toBe(s.matches(object))
        expect(s.matches(set)).toBe(true)
      }),
    )
  })

  test('treats a missing field as empty', () => {
    expect(parseFieldSelector('a=').matches({})).toBe(true)
    expect(parseFieldSelector('a!=').matches({})).toBe(false)
  })

  test('transform() replaces fields and drops requirements that become empty', () => {
    const transformed = parseFieldSelector('a=1,b!=2').transform((field, value) =>
      field === 'a' ? ['', ''] : [`x.${field}`, value],
    )
    expect(transformed.toString()).toBe('x.b!=2')
    expect(transformed.exactValueOf('x.b')).toBeUndefined()
  })
})

test('unescapeFieldValue() returns text without escapes unchanged', () => {
  expect(unescapeFieldValue('a!b')).toBe('a!b')
})
