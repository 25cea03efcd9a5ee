import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canonicalMicroTime,
  canonicalRFC3339,
  formatMicroTime,
  formatRFC3339,
  formatRFC3339Nano,
  instantFromMillis,
  isCalendarDate,
  parseMicroTime,
  parseRFC3339,
} from './rfc3339.ts'

describe('parseRFC3339()', () => {
  test.each([
    ['2020-02-29T12:34:56Z', '2020-02-29T12:34:56Z'],
    ['2020-01-01T01:00:00+01:30', '2019-12-31T23:30:00Z'],
    ['2020-01-01T1:00:00,5Z', '2020-01-01T01:00:00.5Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['2020-01-01T00:00:00.1234567899Z', '2020-01-01T00:00:00.123456789Z'],
  ])('parses %j as %j', (text, printed) => {
    expect(formatRFC3339Nano(parseRFC3339(text))).toBe(printed)
  })

  const as = 'as "2006-01-02T15:04:05Z07:00": cannot parse'
  test.each([
    ['yesterday', `parsing time "yesterday" ${as} "yesterday" as "2006"`],
    ['', `parsing time "" ${as} "" as "2006"`],
    ['2020/01/01', `parsing time "2020/01/01" ${as} "/01/01" as "-"`],
    ['2020-1-01', `parsing time "2020-1-01" ${as} "1-01" as "01"`],
    ['2020-01-01 00:00:00Z', `parsing time "2020-01-01 00:00:00Z" ${as} " 00:00:00Z" as "T"`],
    ['2020-01-01T00:00:00', `parsing time "2020-01-01T00:00:00" ${as} "" as "Z07:00"`],
    ['2020-13-01T00:00:00Z', 'parsing time "2020-13-01T00:00:00Z": month out of range'],
    ['2021-02-29T00:00:00Z', 'parsing time "2021-02-29T00:00:00Z": day out of range'],
    ['2020-01-01T24:00:00Z', 'parsing time "2020-01-01T24:00:00Z": hour out of range'],
    ['2020-01-01T00:00:00Zx', 'parsing time "2020-01-01T00:00:00Zx": extra text: "x"'],
    ['2020-01-01T00:00:00+25:00', 'parsing time "2020-01-01T00:00:00+25:00": time zone offset hour out of range'],
  ])('rejects %j', (text, message) => {
    expect(() => parseRFC3339(text)).toThrow(new SyntaxError(message))
  })
})

describe('parseMicroTime()', () => {
  const as = 'as "2006-01-02T15:04:05.000000Z07:00": cannot parse'
  test.each([
    ['2020-01-01T00:00:00Z', `"Z" as ".000000"`],
    ['2020-01-01T00:00:00.123456789Z', `"789Z" as "Z07:00"`],
    ['2020-01-01T01:00:00.5+01:00', `".5+01:00" as ".000000"`],
  ])('rejects %j', (text, rest) => {
    expect(() => parseMicroTime(text)).toThrow(new SyntaxError(`parsing time "${text}" ${as} ${rest}`))
  })

  test('parses the output of formatMicroTime()', () => {
    const millis = fc.integer({ min: Date.UTC(1, 0, 1) - 1e14, max: Date.UTC(9999, 11, 31) })
    fc.assert(
      fc.property(millis, (value) => {
        const clamped = Math.max(value, -62167219200000)
        const instant = instantFromMillis(clamped)
        expect(formatMicroTime(parseMicroTime(formatMicroTime(instant)))).toBe(
          new Date(clamped).toISOString().replace('Z', '000Z'),
        )
        expect(parseRFC3339(formatRFC3339(instant)).seconds).toBe(instant.seconds)
      }),
    )
  })
})

describe('canonicalRFC3339() and canonicalMicroTime()', () => {
  const outcome = (canonical: (text: string) => string, text: string): string => {
    try {
      return canonical(text)
    } catch (error) {
      return (error as Error).message
    }
  }

  test('are equal to parsing and formatting', () => {
    const part = (max: number): fc.Arbitrary<string> =>
      fc.integer({ min: 0, max }).map((n) => String(n).padStart(2, '0'))
    const texts = fc
      .tuple(
        fc.integer({ min: 0, max: 9999 }).map((year) => String(year).padStart(4, '0')),
        fc.tuple(part(13), part(32)),
        fc.tuple(part(24), part(60), part(60)),
        fc.constantFrom('', '.000000', '.123456', ',123456', '.12345x', '.1234567'),
        fc.constantFrom('Z', 'z', '+01:00', ''),
        fc.nat({ max: 200 }),
        fc.constantFrom('', 'x', '5', ':'),
      )
      .map(([year, date, time, fraction, zone, at, change]) => {
        const text = `${year}-${date.join('-')}T${time.join(':')}${fraction}${zone}`
        return change === '' ? text : text.slice(0, at) + change + text.slice(at + 1)
      })
    fc.assert(
      fc.property(texts, (text) => {
        expect(outcome(canonicalRFC3339, text)).toBe(outcome((each) => formatRFC3339(parseRFC3339(each)), text))
        expect(outcome(canonicalMicroTime, text)).toBe(outcome((each) => formatMicroTime(parseMicroTime(each)), text))
      }),
      { numRuns: 1000 },
    )
  })
})

test('isCalendarDate() respects the lengths of months', () => {
  const dates = ['2020-02-29', '2021-02-29', '1900-02-29', '2000-02-29', '2021-04-31', '2021-4-1', '2021-00-01']
  expect(dates.filter(isCalendarDate)).toEqual(['2020-02-29', '2000-02-29'])
})
