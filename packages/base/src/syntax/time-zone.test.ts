import { describe, expect, test } from 'vitest'
import { fixedTimeZone, timeZone } from './time-zone.ts'

const at = (text: string): number => Date.parse(text)

describe('timeZone()', () => {
  test.each([
    '',
    'UTC',
    'Local',
    'EST',
    'W-SU',
    'US/Eastern',
    'America/New_York',
    'America/Port-au-Prince',
    'Etc/GMT+12',
  ])('loads %j', (name) => {
    expect(timeZone(name)).toBe(timeZone(name))
  })

  test.each([
    ['Mars/Base', 'unknown time zone Mars/Base'],
    ['america/new_york', 'unknown time zone america/new_york'],
    ['us/eastern', 'unknown time zone us/eastern'],
    ['PST', 'unknown time zone PST'],
    ['+01:00', 'unknown time zone +01:00'],
    ['../UTC', 'time: invalid location name'],
    ['/UTC', 'time: invalid location name'],
  ])('rejects %j', (name, message) => {
    expect(() => timeZone(name)).toThrow(new RangeError(message))
  })
})

describe('TimeZone', () => {
  test('wallTime() shows the local date and time', () => {
    expect(timeZone('Asia/Kolkata').wallTime(at('2024-12-30T20:00:59.9Z'))).toEqual({
      year: 2024,
      month: 12,
      day: 31,
      weekday: 2,
      yearDay: 365,
      hour: 1,
      minute: 30,
      second: 59,
    })
    expect(fixedTimeZone(-3600).wallTime(at('0001-01-01T00:00:00Z'))).toMatchObject({
      year: 0,
      month: 12,
      yearDay: 365,
    })
  })

  test('offsetAt() follows the changes of a zone', () => {
    expect(timeZone('America/New_York').offsetAt(at('2025-01-01T00:00:00Z'))).toBe(-5 * 3600)
    expect(timeZone('America/New_York').offsetAt(at('2025-07-01T00:00:00Z'))).toBe(-4 * 3600)
    // Local mean time, before standard time was introduced.
    expect(timeZone('America/New_York').offsetAt(at('0001-01-01T00:00:00Z'))).toBe(-(4 * 3600 + 56 * 60 + 2))
  })

  test('instant() is the inverse of wallTime(), and after the gap for a skipped time', () => {
    const berlin = timeZone('Europe/Berlin')
    expect(berlin.instant(2025, 1, 32, 9)).toBe(at('2025-02-01T08:00:00Z'))
    expect(berlin.instant(2025, 3, 30, 2)).toBe(at('2025-03-30T01:00:00Z'))
    expect(timeZone('America/Santiago').instant(2019, 9, 8, 0)).toBe(at('2019-09-08T04:00:00Z'))
  })
})
