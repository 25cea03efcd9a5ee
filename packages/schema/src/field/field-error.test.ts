import { describe, expect, test } from 'vitest'
import {
  aggregateText,
  distinctErrors,
  duplicate,
  forbidden,
  internalError,
  invalid,
  notFound,
  notSupported,
  RawValue,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { goFloat, goJson, goValue } from './go-format.ts'

describe('FieldPath.toString()', () => {
  const root = FieldPath.of('spec')
  test.each([
    ['spec', root],
    ['spec.a.b', root.child('a', 'b')],
    [
      'spec.items[3].labels[app.kubernetes.io/name]',
      root.child('items').index(3).child('labels').key('app.kubernetes.io/name'),
    ],
    ['<nil>', FieldPath.none],
    ['a', FieldPath.none.child('a')],
    ['[0]', FieldPath.none.index(0)],
    ['[]', FieldPath.of('')],
    ['a.b', FieldPath.of('a', 'b')],
  ])('prints %s', (text, path) => {
    expect(path.toString()).toBe(text)
  })

  test('does not change the parent', () => {
    root.child('x').index(1)
    expect(root.toString()).toBe('spec')
    expect(root.child('x').index(1).root().toString()).toBe('spec')
  })
})

describe('FieldError.toString()', () => {
  const path = FieldPath.of('spec', 'f')
  test.each([
    ['spec.f: Not found: "x"', notFound(path, 'x')],
    ['spec.f: Required value', required(path)],
    ['spec.f: Required value: because', required(path, 'because')],
    ['spec.f: Duplicate value: {"a":1,"b":"<"}'.replace('<', '\\u003c'), duplicate(path, { b: '<', a: 1 })],
    ['spec.f: Invalid value: "a\\nb": bad', invalid(path, 'a\nb', 'bad')],
    ['spec.f: Invalid value: 1.5: bad', invalid(path, 1.5, 'bad')],
    ['spec.f: Invalid value: true: bad', invalid(path, true, 'bad')],
    ['spec.f: Invalid value: null: bad', invalid(path, null, 'bad')],
    ['spec.f: Invalid value: [1,"a"]: bad', invalid(path, [1, 'a'], 'bad')],
    ['spec.f: Invalid value: T{}: bad', invalid(path, new RawValue('T{}'), 'bad')],
    ['spec.f: Unsupported value: "x": supported values: "a", "b"', notSupported(path, 'x', ['a', 'b'])],
    ['spec.f: Unsupported value: "x"', notSupported(path, 'x', [])],
    ['spec.f: Forbidden: no', forbidden(path, 'no')],
    ['spec.f: Too long: may not be more than 5 bytes', tooLong(path, 5)],
    ['spec.f: Too long: may not be more than 1 byte', tooLong(path, 1)],
    ['spec.f: Too long: value is too long', tooLong(path, -1)],
    ['spec.f: Too many: 3: must have at most 1 item', tooMany(path, 3, 1)],
    ['spec.f: Too many: 3: must have at most 2 items', tooMany(path, 3, 2)],
    ['spec.f: Too many: has too many items', tooMany(path, -1, -1)],
    ['spec.f: Invalid value: "integer": wrong', typeInvalid(path, 'integer', 'wrong')],
    ['spec.f: Internal error: oops', internalError(path, 'oops')],
  ])('is %s', (text, error) => {
    expect(error.toString()).toBe(text)
  })
})

describe('aggregateText()', () => {
  const a = required(FieldPath.of('a'))
  const b = required(FieldPath.of('b'))
  test('formats one error as it is and several in brackets, without duplicates', () => {
    expect(aggregateText([])).toBe('')
    expect(aggregateText([a, a])).toBe('a: Required value')
    expect(aggregateText([a, b, a])).toBe('[a: Required value, b: Required value]')
    expect(distinctErrors([a, b, a])).toEqual([a, b])
  })
})

describe('Go formatting', () => {
  test.each([
    [0, '0'],
    [1.5, '1.5'],
    [123456.5, '123456.5'],
    [1234567.5, '1.2345675e+06'],
    [1e21, '1e+21'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [-2.5, '-2.5'],
    [1e100, '1e+100'],
  ])('goFloat(%s) is %s', (value, text) => {
    expect(goFloat(value)).toBe(text)
  })

  test('goJson() sorts keys and escapes HTML', () => {
    expect(goJson({ b: [1, null, true], a: '<&>\u2028', c: { z: 1e21 } })).toBe(
      '{"a":"\\u003c\\u0026\\u003e\\u2028","b":[1,null,true],"c":{"z":1e+21}}',
    )
  })

  test('goValue() formats maps and lists like %v', () => {
    expect(goValue({ b: ['x', 1], a: null })).toBe('map[a:<nil> b:[x 1]]')
  })
})
