import { describe, expect, test } from 'vitest'
import { acceptedFormat, formatFloat } from './exposition.ts'

describe('acceptedFormat()', () => {
  test.each([
    [undefined, 'text'],
    ['*/*', 'text'],
    ['text/html', 'text'],
    ['application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5', 'openmetrics'],
    ['application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.6', 'text'],
    ['application/openmetrics-text;q=0', 'text'],
  ])('gives %s %s', (accept, format) => expect(acceptedFormat(accept)).toBe(format))
})

describe('formatFloat()', () => {
  test.each([
    [0, '0'],
    [-1.5, '-1.5'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [999_999, '999999'],
    [1e6, '1e+06'],
    [1.25e100, '1.25e+100'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
  ])('writes %d as %s', (value, text) => expect(formatFloat(value)).toBe(text))
})
