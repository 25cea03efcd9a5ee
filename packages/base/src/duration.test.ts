import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Duration, formatDuration, millisToNanos, nanosToMillis, parseDuration, toMillis } from './duration.ts'

const SECOND = 1_000_000_000n
const MAX = 2n ** 63n - 1n
const int64 = fc.bigInt({ min: -(2n ** 63n), max: MAX })

describe('parseDuration()', () => {
  test.each<[text: string, nanoseconds: bigint]>([
    ['0', 0n],
    ['-0', 0n],
    ['+0', 0n],
    ['5s', 5n * SECOND],
    ['+5s', 5n * SECOND],
    ['-5s', -5n * SECOND],
    ['-.5s', -SECOND / 2n],
    ['1.0s', SECOND],
    ['5.s', 5n * SECOND],
    ['.5s', SECOND / 2n],
    ['100.00100s', 100_001_000_000n],
    ['10ns', 10n],
    ['11us', 11_000n],
    ['12µs', 12_000n],
    ['12μs', 12_000n],
    ['13ms', 13_000_000n],
    ['14s', 14n * SECOND],
    ['15m', 900n * SECOND],
    ['16h', 57_600n * SECOND],
    ['3h30m', 12_600n * SECOND],
    ['10.5s4m', 250_500_000_000n],
    ['-2m3.4s', -123_400_000_000n],
    ['1h2m3s4ms5us6ns', 3_723_004_005_006n],
    ['39h9m14.425s', 140_954_425_000_000n],
    ['52763797000ns', 52_763_797_000n],
    ['0.3333333333333333333h', 1_200n * SECOND],
    ['9007199254740993ns', 9_007_199_254_740_993n],
    ['9223372036854775807ns', MAX],
    ['9223372036854775.807us', MAX],
    ['9223372036s854ms775us807ns', MAX],
    ['-9223372036854775808ns', -MAX - 1n],
    ['-9223372036854775.808us', -MAX - 1n],
    ['0.100000000000000000000h', 360n * SECOND],
    ['0.830103483285477580700h', 2_988_372_539_827n],
  ])('parses %s', (text, nanoseconds) => {
    expect(parseDuration(text)).toBe(nanoseconds)
  })

  test.each<[text: string, message: string]>([
    ['', 'time: invalid duration ""'],
    ['3', 'time: missing unit in duration "3"'],
    ['-', 'time: invalid duration "-"'],
    ['s', 'time: invalid duration "s"'],
    ['.', 'time: invalid duration "."'],
    ['-.', 'time: invalid duration "-."'],
    ['.s', 'time: invalid duration ".s"'],
    ['+.s', 'time: invalid duration "+.s"'],
    ['x', 'time: invalid duration "x"'],
    ['5', 'time: missing unit in duration "5"'],
    ['1.5', 'time: missing unit in duration "1.5"'],
    ['5d', 'time: unknown unit "d" in duration "5d"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['5 s', 'time: unknown unit " s" in duration "5 s"'],
    ['1h 2m', 'time: unknown unit "h " in duration "1h 2m"'],
    ['3000000h', 'time: invalid duration "3000000h"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
    ['9223372036854775.808us', 'time: invalid duration "9223372036854775.808us"'],
    ['9223372036854ms775us808ns', 'time: invalid duration "9223372036854ms775us808ns"'],
    ['-9223372036854775809ns', 'time: invalid duration "-9223372036854775809ns"'],
    ['99999999999999999999', 'time: invalid duration "99999999999999999999"'],
    ['"1s\\', 'time: invalid duration "\\"1s\\\\"'],
    ['1é', 'time: unknown unit "\\xc3\\xa9" in duration "1\\xc3\\xa9"'],
    ['1\n', 'time: unknown unit "\\x0a" in duration "1\\x0a"'],
    ['\u{1f600}', 'time: invalid duration "\\xf0\\x9f\\x98\\x80"'],
  ])('rejects %j with the error text of Go', (text, message) => {
    expect(() => parseDuration(text)).toThrow(new RangeError(message))
  })

  test('parses the output of formatDuration() for every 64-bit value', () => {
    fc.assert(fc.property(int64, (nanoseconds) => parseDuration(formatDuration(nanoseconds)) === nanoseconds))
  })

  test('throws only RangeErrors of the time package for arbitrary text', () => {
    const text = fc.string({ unit: fc.constantFrom('0', '1', '9', '.', '-', '+', 's', 'm', 'h', 'n', 'u', 'µ', ' ') })
    fc.assert(
      fc.property(text, (input) => {
        try {
          return typeof parseDuration(input) === 'bigint'
        } catch (error) {
          return error instanceof RangeError && error.message.startsWith('time: ')
        }
      }),
    )
  })
})

describe('formatDuration()', () => {
  test.each<[duration: bigint | Duration, text: string]>([
    [0n, '0s'],
    [1n, '1ns'],
    [1_100n, '1.1µs'],
    [1_500n, '1.5µs'],
    [2_200_000n, '2.2ms'],
    [3_300_000_000n, '3.3s'],
    [245_000_000_000n, '4m5s'],
    [245_001_000_000n, '4m5.001s'],
    [18_367_001_000_000n, '5h6m7.001s'],
    [480_000_000_001n, '8m0.000000001s'],
    [-60_000_000_000n, '-1m0s'],
    [-1n, '-1ns'],
    [3_600_000_000_000n, '1h0m0s'],
    [MAX, '2562047h47m16.854775807s'],
    [-MAX - 1n, '-2562047h47m16.854775808s'],
    [1500, '1.5s'],
    [0.25, '250µs'],
    ['90m', '1h30m0s'],
  ])('formats %s as %s', (duration, text) => {
    expect(formatDuration(duration)).toBe(text)
  })

  test('rejects values that exceed 64 bits', () => {
    expect(() => formatDuration(MAX + 1n)).toThrow(RangeError)
    expect(() => formatDuration(Number.POSITIVE_INFINITY)).toThrow(RangeError)
  })
})

describe('toMillis()', () => {
  test.each<[Duration, number]>([
    [250, 250],
    ['250ms', 250],
    ['1.5s', 1500],
    ['5m', 300_000],
    ['2h', 7_200_000],
  ])('accepts %s', (duration, milliseconds) => {
    expect(toMillis(duration)).toBe(milliseconds)
  })

  test('rejects NaN and malformed text', () => {
    expect(() => toMillis(Number.NaN)).toThrow(RangeError)
    expect(() => toMillis('1e3s')).toThrow('time: unknown unit "e" in duration "1e3s"')
  })
})

test('millisToNanos() and nanosToMillis() are inverse for whole nanoseconds of up to a month', () => {
  const month = 30n * 86_400n * SECOND
  fc.assert(fc.property(fc.bigInt({ min: -month, max: month }), (n) => millisToNanos(nanosToMillis(n)) === n))
})
