import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseCron } from './cron.ts'

const newYear = Date.parse('2025-01-01T00:00:00Z')
const next = (text: string, after = '2025-01-01T00:00:00Z'): string | undefined => {
  const time = parseCron(text).next(Date.parse(after))
  return time === undefined ? undefined : new Date(time).toISOString().replace('.000', '')
}

describe('parseCron()', () => {
  test.each([
    ['*/15 * * * *', '2025-01-01T00:00:00Z', '2025-01-01T00:15:00Z'],
    ['*/15 * * * *', '2025-01-01T00:14:59.5Z', '2025-01-01T00:15:00Z'],
    ['0 0 29 2 *', '2025-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['30 6-16/4 * * 1-5', '2025-01-03T15:00:00Z', '2025-01-06T06:30:00Z'],
    ['0 12 13 * FRI', '2025-01-01T00:00:00Z', '2025-01-03T12:00:00Z'],
    ['0 0 1,15 JAN-MAR ?', '2025-03-20T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['5 4 * jan-DEC sun', '2025-01-01T00:00:00Z', '2025-01-05T04:05:00Z'],
    ['5/20 * * * *', '2025-01-01T00:06:00Z', '2025-01-01T00:25:00Z'],
    ['+5 * * * *', '2025-01-01T00:00:00Z', '2025-01-01T00:05:00Z'],
    ['*-x * * * *', '2025-01-01T00:00:00Z', '2025-01-01T00:01:00Z'],
    ['\t 5   *\u3000* * *\n', '2025-01-01T00:00:00Z', '2025-01-01T00:05:00Z'],
    ['@hourly', '2025-01-01T00:30:00Z', '2025-01-01T01:00:00Z'],
    ['@daily', '2025-01-01T00:30:00Z', '2025-01-02T00:00:00Z'],
    ['@midnight', '2025-01-01T00:30:00Z', '2025-01-02T00:00:00Z'],
    ['@weekly', '2025-01-01T00:30:00Z', '2025-01-05T00:00:00Z'],
    ['@monthly', '2025-01-01T00:30:00Z', '2025-02-01T00:00:00Z'],
    ['@yearly', '2025-01-01T00:30:00Z', '2026-01-01T00:00:00Z'],
    ['@annually', '2025-01-01T00:30:00Z', '2026-01-01T00:00:00Z'],
    ['@every 1h30m', '2025-01-01T00:00:10Z', '2025-01-01T01:30:10Z'],
    ['@every 2500ms', '2025-01-01T00:00:10.7Z', '2025-01-01T00:00:12Z'],
    ['@every 1ms', '2025-01-01T00:00:10Z', '2025-01-01T00:00:11Z'],
    ['59 23 31 2 *', '2025-01-01T00:00:00Z', undefined],
  ])('fires at the selected times: %j after %s at %s', (text, after, expected) => {
    expect(next(text, after)).toBe(expected)
  })

  test('skips empty ranges', () => {
    expect(next('1,,2 * * * *')).toBe('2025-01-01T00:01:00Z')
    expect(next('1,,2 * * * *', '2025-01-01T00:01:00Z')).toBe('2025-01-01T00:02:00Z')
    expect(next('1, * * * *', '2025-01-01T00:01:00Z')).toBe('2025-01-01T01:01:00Z')
    expect(next(',, * * * *')).toBeUndefined()
  })

  test('takes day and weekday for alternatives unless one is open', () => {
    expect(next('0 0 13 * 5', '2025-06-01T00:00:00Z')).toBe('2025-06-06T00:00:00Z')
    expect(next('0 0 */1 * 5', '2025-06-01T00:00:00Z')).toBe('2025-06-06T00:00:00Z')
    expect(next('0 0 */2 * 5', '2025-06-01T00:00:00Z')).toBe('2025-06-03T00:00:00Z')
    expect(next('0 0 13 * 5,*', '2025-06-01T00:00:00Z')).toBe('2025-06-13T00:00:00Z')
  })

  test('reads a zone in front of the schedule', () => {
    expect(next('TZ=UTC 0 9 * * *')).toBe('2025-01-01T09:00:00Z')
    expect(next('CRON_TZ=Asia/Kolkata @daily')).toBe('2025-01-01T18:30:00Z')
    expect(next('TZ=   0 9 * * * ')).toBe('2025-01-01T09:00:00Z')
  })

  test('follows the wall time of a zone over its changes', () => {
    expect(next('TZ=Europe/Berlin 0 9 * * *', '2025-03-28T12:00:00Z')).toBe('2025-03-29T08:00:00Z')
    expect(next('TZ=Europe/Berlin 0 9 * * *', '2025-03-29T12:00:00Z')).toBe('2025-03-30T07:00:00Z')
    // 2:30 does not exist on 30 March, and exists twice on 26 October.
    expect(next('TZ=Europe/Berlin 30 2 * * *', '2025-03-29T12:00:00Z')).toBe('2025-03-31T00:30:00Z')
    expect(next('TZ=Europe/Berlin 30 2 * * *', '2025-10-25T12:00:00Z')).toBe('2025-10-26T00:30:00Z')
    expect(next('TZ=Europe/Berlin 30 2 * * *', '2025-10-26T00:30:00Z')).toBe('2025-10-26T01:30:00Z')
    // Midnight of 8 September 2019 does not exist in Santiago.
    expect(next('TZ=America/Santiago 30 * 8 9 *', '2019-09-01T00:00:00Z')).toBe('2019-09-08T04:30:00Z')
  })

  test.each([
    ['', 'empty spec string'],
    [' ', 'expected exactly 5 fields, found 0: []'],
    ['nope', 'expected exactly 5 fields, found 1: [nope]'],
    ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
    ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['9223372036854775807 * * * *', 'end of range (9223372036854775807) above maximum (59): 9223372036854775807'],
    [
      '9223372036854775808 * * * *',
      'failed to parse int from 9223372036854775808: strconv.Atoi: parsing "9223372036854775808": value out of range',
    ],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['10-5 * * * *', 'beginning of range (10) beyond end of range (5): 10-5'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['*/-5 * * * *', 'negative number (-5) not allowed: -5'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['1-x-3 * * * *', 'too many hyphens: 1-x-3'],
    ['*/2/3 * * * *', 'too many slashes: */2/3'],
    ['a/2/3 * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ['* * * mon *', 'failed to parse int from mon: strconv.Atoi: parsing "mon": invalid syntax'],
    ['@often', 'unrecognized descriptor: @often'],
    ['@Daily', 'unrecognized descriptor: @Daily'],
    ['@daily ', 'unrecognized descriptor: @daily '],
    [' @daily', 'expected exactly 5 fields, found 1: [@daily]'],
    ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
    ['TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['TZ=Mars/Base 0 * * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
    ['TZ=../etc 0 * * * *', 'provided bad location ../etc: time: invalid location name'],
    [' TZ=UTC 0 * * * *', 'expected exactly 5 fields, found 6: [TZ=UTC 0 * * * *]'],
  ])('rejects %j', (text, message) => {
    expect(() => parseCron(text)).toThrow(new SyntaxError(message))
  })
})

describe('CronSchedule', () => {
  test('next() returns a later time, and selects none in between', () => {
    const field = (max: number) => fc.oneof(fc.constant('*'), fc.integer({ min: 1, max }).map(String))
    const text = fc.tuple(field(59), field(23), field(28)).map(([minute, hour, day]) => `${minute} ${hour} ${day} * *`)
    fc.assert(
      fc.property(text, fc.integer({ min: newYear, max: newYear + 1e10 }), (spec, after) => {
        const schedule = parseCron(spec)
        const found = schedule.next(after) ?? 0
        expect(found).toBeGreaterThan(after)
        expect(schedule.next(found - 1)).toBe(found)
        expect(found % 60_000).toBe(0)
      }),
    )
  })
})
