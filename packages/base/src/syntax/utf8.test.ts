import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codePointLength, compareUtf8, utf8Length } from './utf8.ts'

const unit = fc.constantFrom('a', 'ü', '\u07ff', '\u0800', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}')
const text = fc.string({ unit })

describe('utf8Length()', () => {
  test('equals the length of the encoded text', () => {
    fc.assert(fc.property(text, (value) => utf8Length(value) === Buffer.byteLength(value)))
  })
})

describe('codePointLength()', () => {
  test('counts code points', () => {
    fc.assert(fc.property(text, (value) => codePointLength(value) === [...value].length))
    expect(codePointLength('\ud800\ud800\udc00\udc00')).toBe(3)
  })
})

describe('compareUtf8()', () => {
  test('orders like the encoded bytes', () => {
    const expected = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
    fc.assert(fc.property(text, text, (a, b) => Math.sign(compareUtf8(a, b)) === expected(a, b)))
  })
})
