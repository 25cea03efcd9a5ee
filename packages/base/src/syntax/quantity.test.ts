import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseQuantity, Quantity, type QuantityFormat } from './quantity.ts'

describe('parseQuantity()', () => {
  test.each([
    ['0', '0'],
    ['100m', '100m'],
    ['0.1', '100m'],
    ['1.5', '1500m'],
    ['1500m', '1500m'],
    ['1000m', '1'],
    ['1.5Gi', '1536Mi'],
    ['1024Ki', '1Mi'],
    ['1023Ki', '1023Ki'],
    ['1024', '1024'],
    ['12e6', '12e6'],
    ['1e4', '10e3'],
    ['1E3', '1E3'],
    ['1000k', '1M'],
    ['0.5Ki', '512'],
    ['0.5n', '1n'],
    ['0.0000000001', '1n'],
    ['1.23456789012', '1234567891n'],
    ['-0.0000000001', '-1n'],
    ['100Ei', '9223372036854775807'],
    ['9223372036854775808', '9223372036854775808'],
    ['-1500m', '-1500m'],
    ['+5', '+5'],
    ['.5', '500m'],
    ['5.', '5.'],
    ['-', '0'],
    ['1e-9', '1e-9'],
    ['1e100', '10e99'],
    ['1u', '1u'],
  ])('parses %j and prints it as %j', (text, printed) => {
    expect(parseQuantity(text).toString()).toBe(printed)
  })

  const format = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
  const suffix = "unable to parse quantity's suffix"
  test.each([
    ['', format],
    ['1.1.M', format],
    [' 1', format],
    ['1 ', format],
    ['aoeu', format],
    ['10 Mi', format],
    ['1+1.0M', format],
    ['0.1mi', suffix],
    ['1i', suffix],
    ['.5i', suffix],
    ['-3.01e-', suffix],
    ['1KI', format],
    ['1e9223372036854775808', suffix],
    ['.Ei', 'unable to parse numeric part of quantity'],
  ])('rejects %j', (text, message) => {
    expect(() => parseQuantity(text)).toThrow(new SyntaxError(message))
    expect(Quantity.tryParse(text)).toBeUndefined()
  })

  test('takes the format from the suffix', () => {
    const formats = ['1', '1Ki', '1e3', '0.5Ki', '0.0001Ki'].map((text) => parseQuantity(text).format)
    const expected: QuantityFormat[] = ['DecimalSI', 'BinarySI', 'DecimalExponent', 'BinarySI', 'DecimalSI']
    expect(formats).toEqual(expected)
  })
})

describe('Quantity', () => {
  test.each([
    ['1.1', 2n, 1100n],
    ['1100m', 2n, 1100n],
    ['-1.1', -2n, -1100n],
    ['1Ki', 1024n, 1024000n],
    ['1n', 1n, 1n],
    ['0', 0n, 0n],
  ])('value() and milliValue() of %s round away from zero', (text, value, milli) => {
    expect(parseQuantity(text).value()).toBe(value)
    expect(parseQuantity(text).milliValue()).toBe(milli)
  })

  test.each([
    ['1.0005', '1001m'],
    ['-1.0005', '-1001m'],
    ['1500', '1500'],
    ['-18446744073709552000', '-18446744073709552k'],
  ])('roundUp() of %s to thousandths returns %s', (text, rounded) => {
    expect(parseQuantity(text).roundUp(-3).toString()).toBe(rounded)
  })

  test.each([
    ['5', 5n],
    ['1k', 1000n],
    ['1Mi', 1048576n],
    ['100m', undefined],
    ['1000m', undefined],
    ['9223372036854775807', undefined],
    ['1e19', undefined],
  ])('asInt64() of %s is %s', (text, value) => {
    expect(parseQuantity(text).asInt64()).toBe(value)
    expect(parseQuantity(text).isInteger()).toBe(value !== undefined)
  })

  test('asApproximateFloat64() may be infinite', () => {
    expect(parseQuantity('2.5').asApproximateFloat64()).toBe(2.5)
    expect(parseQuantity('1e400').asApproximateFloat64()).toBe(Number.POSITIVE_INFINITY)
  })

  test('cmp() compares exponents of any size without expanding them', () => {
    expect(parseQuantity('1e2000000000').cmp(parseQuantity('1'))).toBe(1)
    expect(parseQuantity('-1e2000000000').cmp(parseQuantity('1'))).toBe(-1)
    expect(parseQuantity('1Ki').equal(parseQuantity('1.024k'))).toBe(true)
  })

  test('add() uses the format of the other quantity if this one is zero', () => {
    expect(parseQuantity('0').add(parseQuantity('1Mi')).toString()).toBe('1Mi')
    expect(parseQuantity('1').add(parseQuantity('1Mi')).toString()).toBe('1048577')
    expect(parseQuantity('1Mi').sub(parseQuantity('1Ki')).toString()).toBe('1023Ki')
  })

  test('fromJSON() and toJSON() use the string form', () => {
    expect(JSON.stringify({ cpu: Quantity.fromJSON(' 0.5 ') })).toBe('{"cpu":"500m"}')
    expect(Quantity.fromJSON(2).toString()).toBe('2')
    expect(Quantity.fromJSON(null).isZero()).toBe(true)
  })

  const formats = fc.constantFrom<QuantityFormat>('DecimalSI', 'BinarySI', 'DecimalExponent')
  const quantities = fc
    .tuple(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), fc.integer({ min: -9, max: 3 }), formats)
    .map(([unscaled, exponent, format]) => new Quantity(unscaled, exponent, format))

  test('toString() is lossless: parsing it gives an equal quantity and, in the same format, the same text', () => {
    fc.assert(
      fc.property(quantities, (quantity) => {
        const again = parseQuantity(quantity.toString())
        expect(again.equal(quantity)).toBe(true)
        // Without a suffix the binary format is lost, and with it the canonical text.
        if (again.format === quantity.format) expect(again.toString()).toBe(quantity.toString())
      }),
    )
  })

  test('add() and sub() are inverse, and cmp() agrees with the sign of the difference', () => {
    fc.assert(
      fc.property(quantities, quantities, (a, b) => {
        expect(a.add(b).sub(b).equal(a)).toBe(true)
        expect(a.cmp(b)).toBe(a.sub(b).sign)
        expect(a.cmp(b) + b.cmp(a)).toBe(0)
        expect(a.neg().neg().equal(a)).toBe(true)
      }),
    )
  })
})

test('Quantity.parse() refuses long digits with a wrong suffix in linear time', () => {
  for (const start of ['', '.', '-', '1.']) {
    expect(() => Quantity.parse(`${start}${'1'.repeat(1_000_000)}x`)).toThrow('quantities must match')
  }
})

test('Quantity.parse() refuses more than 1,000 characters', () => {
  expect(Quantity.parse(`1${'0'.repeat(999)}`)).toBeInstanceOf(Quantity)
  expect(() => Quantity.parse(`1${'0'.repeat(1000)}`)).toThrow('quantities must match the regular expression')
  expect(() => Quantity.parse(`1${'0'.repeat(2_500_000)}`)).toThrow('quantities must match the regular expression')
})
