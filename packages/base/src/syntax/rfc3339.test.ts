import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
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

test('isCalendarDate() respects the lengths of months', () => {
  const dates = ['2020-02-29', '2021-02-29', '1900-02-29', '2000-02-29', '2021-04-31', '2021-4-1', '2021-00-01']
  expect(dates.filter(isCalendarDate)).toEqual(['2020-02-29', '2000-02-29'])
})
