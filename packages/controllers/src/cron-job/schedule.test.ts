import type { CronJob, Job } from '@kubewright/k8s'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { job, metadata, now } from '../testdata/objects.ts'
import { dueRun, jobNameFor, nextRunIn, planJobHistory } from './plan-cron-job.ts'
import { parseSchedule } from './schedule.ts'
import { type ZoneClock, zoneClock } from './zone-clock.ts'

const zone = (name = 'UTC'): ZoneClock => {
  const found = zoneClock(name)
  if (found === undefined) throw new Error(`no zone ${name}`)
  return found
}
const next = (text: string, after: string, name?: string): string | undefined => {
  const time = parseSchedule(text, zone(name)).next(Date.parse(after))
  return time === undefined ? undefined : new Date(time).toISOString().replace('.000', '')
}

test.each([
  ['*/15 * * * *', '2025-01-01T00:00:00Z', '2025-01-01T00:15:00Z'],
  ['*/15 * * * *', '2025-01-01T00:14:59.5Z', '2025-01-01T00:15:00Z'],
  ['0 0 29 2 *', '2025-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['30 6-16/4 * * 1-5', '2025-01-03T15:00:00Z', '2025-01-06T06:30:00Z'],
  ['0 12 13 * FRI', '2025-01-01T00:00:00Z', '2025-01-03T12:00:00Z'],
  ['0 0 1,15 JAN-MAR ?', '2025-03-20T00:00:00Z', '2026-01-01T00:00:00Z'],
  ['5/20 * * * *', '2025-01-01T00:06:00Z', '2025-01-01T00:25:00Z'],
  ['@hourly', '2025-01-01T00:30:00Z', '2025-01-01T01:00:00Z'],
  ['@weekly', '2025-01-01T00:30:00Z', '2025-01-05T00:00:00Z'],
  ['@yearly', '2025-01-01T00:30:00Z', '2026-01-01T00:00:00Z'],
  ['@every 1h30m', '2025-01-01T00:00:10Z', '2025-01-01T01:30:10Z'],
  ['59 23 31 2 *', '2025-01-01T00:00:00Z', undefined],
])('parseSchedule(%j) after %s is %s', (text, after, expected) => {
  expect(next(text, after)).toBe(expected)
})

test('parseSchedule() follows the wall time of a zone over its changes', () => {
  expect(next('0 9 * * *', '2025-03-28T12:00:00Z', 'Europe/Berlin')).toBe('2025-03-29T08:00:00Z')
  expect(next('0 9 * * *', '2025-03-29T12:00:00Z', 'Europe/Berlin')).toBe('2025-03-30T07:00:00Z')
  // 2:30 does not exist on that day.
  expect(next('30 2 * * *', '2025-03-29T12:00:00Z', 'Europe/Berlin')).toBe('2025-03-31T00:30:00Z')
  expect(next('0 0 * * *', '2025-01-01T00:00:00Z', 'Asia/Kolkata')).toBe('2025-01-01T18:30:00Z')
  expect(zoneClock('Mars/Olympus')).toBeUndefined()
})

test.each([
  ['', 'empty spec string'],
  ['* * * *', 'expected exactly 5 fields, found 4: [* * * *]'],
  ['60 * * * *', 'end of range (60) above maximum (59): 60'],
  ['x * * * *', 'failed to parse int from x'],
  ['5-1 * * * *', 'beginning of range (5) beyond end of range (1): 5-1'],
  ['*/0 * * * *', 'step of range should be a positive number: */0'],
  ['@often', 'unrecognized descriptor: @often'],
])('parseSchedule(%j) is refused', (text, message) => {
  expect(() => parseSchedule(text, zone())).toThrow(message)
})

test('Schedule.next() is later than asked and nothing fits between', () => {
  const field = (max: number) => fc.oneof(fc.constant('*'), fc.integer({ min: 1, max }).map(String))
  const text = fc.tuple(field(59), field(23), field(28)).map(([minute, hour, day]) => `${minute} ${hour} ${day} * *`)
  fc.assert(
    fc.property(text, fc.integer({ min: now, max: now + 1e10 }), (spec, after) => {
      const schedule = parseSchedule(spec, zone())
      const found = schedule.next(after) ?? 0
      expect(found).toBeGreaterThan(after)
      expect(schedule.next(found - 1)).toBe(found)
      expect(found % 60_000).toBe(0)
    }),
  )
})

const cronJob = (spec: Partial<CronJob['spec']> = {}, last?: string, age = 3600): CronJob => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: metadata({ name: 'tick', age }),
  spec: { schedule: '*/10 * * * *', jobTemplate: {}, ...spec } as CronJob['spec'],
  ...(last ? { status: { lastScheduleTime: last } } : {}),
})
const schedule = parseSchedule('*/10 * * * *', zone())
const time = (text: string) => Date.parse(`2025-01-01T${text}Z`)

test('dueRun() finds the latest run that was not served', () => {
  expect(dueRun(cronJob({}, '2025-01-01T11:50:00Z'), schedule, time('11:59:00')).time).toBeUndefined()
  expect(dueRun(cronJob({}, '2025-01-01T11:50:00Z'), schedule, time('12:00:01')).time).toBe(time('12:00:00'))
  expect(dueRun(cronJob({}, '2025-01-01T09:00:00Z'), schedule, time('12:05:00'))).toEqual({
    time: time('12:00:00'),
    manyMissed: false,
  })
  expect(dueRun(cronJob({}, '2024-12-20T00:00:00Z'), schedule, time('12:05:00'))).toEqual({
    time: time('12:00:00'),
    manyMissed: true,
  })
  expect(
    dueRun(cronJob({ startingDeadlineSeconds: 60 }, '2025-01-01T09:00:00Z'), schedule, time('12:05:00')).time,
  ).toBeUndefined()
})

test('nextRunIn() counts periods from the last run', () => {
  const hourly = parseSchedule('@every 1h', zone())
  expect(nextRunIn(cronJob({}, '2025-01-01T11:30:00Z'), hourly, now)).toBe(1_800_000)
  expect(nextRunIn(cronJob(), schedule, now)).toBe(600_000)
})

test('jobNameFor() is the same for the same run', () => {
  expect(jobNameFor(cronJob(), now)).toBe('tick-28928880')
})

test('planJobHistory() keeps the newest of each kind', () => {
  const ended = (name: string, type: 'Complete' | 'Failed', startTime: string): Job =>
    job({}, { startTime, conditions: [{ type, status: 'True' }] } as never, { name })
  const jobs = [
    ended('c3', 'Complete', '2025-01-01T03:00:00Z'),
    ended('c1', 'Complete', '2025-01-01T01:00:00Z'),
    ended('c2', 'Complete', '2025-01-01T02:00:00Z'),
    ended('f1', 'Failed', '2025-01-01T01:00:00Z'),
    ended('f2', 'Failed', '2025-01-01T02:00:00Z'),
    job({}, {}, { name: 'running' }),
  ]
  const names = planJobHistory(cronJob({ successfulJobsHistoryLimit: 1 }), jobs).map(({ metadata: { name } }) => name)
  expect(names).toEqual(['c1', 'c2', 'f1'])
})
