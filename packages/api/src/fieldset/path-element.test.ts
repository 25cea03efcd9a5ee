import { describe, expect, test } from 'vitest'
import {
  canonicalElement,
  compareElements,
  fieldSetPath,
  formatFieldSetPath,
  parsePathElement,
  serializePathElement,
} from './path-element.ts'

describe('serializePathElement()', () => {
  test.each([
    [{ field: 'spec' }, 'f:spec'],
    [{ field: 'example.com/a"b' }, 'f:example.com/a"b'],
    [{ key: { protocol: 'TCP', containerPort: 80 } }, 'k:{"containerPort":80,"protocol":"TCP"}'],
    [{ value: 'x' }, 'v:"x"'],
    [{ value: 1.5 }, 'v:1.5'],
    [{ value: true }, 'v:true'],
    [{ index: 3 }, 'i:3'],
  ])('encodes %j as %s', (element, text) => {
    expect(serializePathElement(element)).toBe(text)
  })

  test('escapes HTML and control characters as Kubernetes does', () => {
    expect(serializePathElement({ value: '<a&b>\b\n"\\\u2028' })).toBe(
      'v:"\\u003ca\\u0026b\\u003e\\u0008\\n\\"\\\\\\u2028"',
    )
  })
})

describe('parsePathElement()', () => {
  test('decodes the output of serializePathElement()', () => {
    for (const element of [{ field: 'a' }, { key: { a: 1, b: 'x' } }, { value: null }, { index: -1 }]) {
      expect(parsePathElement(serializePathElement(element))).toEqual(element)
    }
  })

  test('returns undefined for an unknown type', () => {
    expect(parsePathElement('z:1')).toBeUndefined()
  })

  test.each([
    ['k', 'key must be 2 characters long:'],
    ['abc', 'missing colon: abc'],
    ['i:x', 'strconv.Atoi: parsing "x": invalid syntax'],
  ])('rejects %s', (text, message) => {
    expect(() => parsePathElement(text)).toThrow(message)
  })
})

describe('canonicalElement()', () => {
  test('sorts keys and drops spaces', () => {
    expect(canonicalElement('k:{"b": 1, "a":"x"}')).toBe('k:{"a":"x","b":1}')
  })
})

describe('compareElements()', () => {
  test('orders fields, keys, values, indexes, and each by content', () => {
    const sorted = [
      'f:a',
      'f:b',
      'f:\uffff',
      'f:\u{1f600}',
      'k:{"name":"a"}',
      'k:{"name":"b"}',
      'k:{"port":9}',
      'k:{"port":80}',
      'k:{"port":80,"protocol":"TCP"}',
      'v:9',
      'v:80',
      'v:"a"',
      'v:"b"',
      'v:false',
      'v:true',
      'v:null',
      'i:2',
      'i:10',
    ]
    expect([...sorted].reverse().sort(compareElements)).toEqual(sorted)
  })
})

describe('formatFieldSetPath()', () => {
  test('formats paths as in conflict messages', () => {
    const path = fieldSetPath('spec', 'ports', { key: { protocol: 'TCP', port: 80 } }, 'tags', { value: 'a"b' })
    expect(formatFieldSetPath(path)).toBe('.spec.ports[port=80,protocol="TCP"].tags[="a\\"b"]')
    expect(formatFieldSetPath(fieldSetPath('a', 0))).toBe('.a[0]')
  })
})
