import { describe, expect, it } from 'vitest'
import { cronScheduleProblem, isTimeZone } from './cron-schedule.ts'

describe('cronScheduleProblem()', () => {
  it.each([
    '*/5 * * * *',
    '0 0 1,15 * mon-fri',
    '5 4 * jan-DEC sun',
    '5/10 * * * ?',
    '@daily',
    '@every 1h30m',
    'TZ=Europe/Berlin 0 * * * *',
    'CRON_TZ=UTC @hourly',
    ',, * * * *',
  ])('accepts %j', (schedule) => {
    expect(cronScheduleProblem(schedule)).toBeUndefined()
  })

  it.each([
    ['nope', 'expected exactly 5 fields, found 1: [nope]'],
    ['* * * * * *', 'expected exactly 5 fields, found 6: [* * * * * *]'],
    ['61 * * * *', 'end of range (61) above maximum (59): 61'],
    ['* * 0 * *', 'beginning of range (0) below minimum (1): 0'],
    ['10-5 * * * *', 'beginning of range (10) beyond end of range (5): 10-5'],
    ['*/0 * * * *', 'step of range should be a positive number: */0'],
    ['1-2-3 * * * *', 'too many hyphens: 1-2-3'],
    ['*/2/3 * * * *', 'too many slashes: */2/3'],
    ['a * * * *', 'failed to parse int from a: strconv.Atoi: parsing "a": invalid syntax'],
    ['-1 * * * *', 'failed to parse int from : strconv.Atoi: parsing "": invalid syntax'],
    ['@often', 'unrecognized descriptor: @often'],
    ['@every soon', 'failed to parse duration @every soon: time: invalid duration "soon"'],
    ['TZ=0', 'invalid schedule format: runtime error: slice bounds out of range [:-1]'],
    ['TZ=Mars/Base 0 * * * *', 'provided bad location Mars/Base: unknown time zone Mars/Base'],
  ])('says what is wrong with %j', (schedule, problem) => {
    expect(cronScheduleProblem(schedule)).toBe(problem)
  })
})

describe('isTimeZone()', () => {
  it.each([
    ['UTC', true],
    ['America/New_York', true],
    ['america/new_york', false],
    ['US/Eastern', true],
    ['+01:00', false],
    ['Mars/Base', false],
  ])('%s is %s', (name, known) => {
    expect(isTimeZone(name)).toBe(known)
  })
})
