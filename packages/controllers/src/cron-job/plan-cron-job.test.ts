import { parseCron } from '@kubewright/base'
import type { CronJob, Job } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { job, metadata, now } from '../testdata/objects.ts'
import { dueRun, jobNameFor, nextRunIn, planJobHistory } from './plan-cron-job.ts'

const cronJob = (spec: Partial<CronJob['spec']> = {}, last?: string, age = 3600): CronJob => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: metadata({ name: 'tick', age }),
  spec: { schedule: '*/10 * * * *', jobTemplate: {}, ...spec } as CronJob['spec'],
  ...(last ? { status: { lastScheduleTime: last } } : {}),
})
const schedule = parseCron('*/10 * * * *')
const time = (text: string) => Date.parse(`2025-01-01T${text}Z`)

test('dueRun() finds the latest run that was not started', () => {
  expect(dueRun(cronJob({}, '2025-01-01T11:50:00Z'), schedule, time('11:59:00')).time).toBeUndefined()
  expect(dueRun(cronJob({}, '2025-01-01T11:50:00Z'), schedule, time('12:00:01')).time).toBe(time('12:00:00'))
  expect(dueRun(cronJob({}, '2025-01-01T09:00:00Z'), schedule, time('12:05:00'))).toEqual({
    time: time('12:00:00'),
    manyMissed: false,
    neverRuns: false,
  })
  expect(dueRun(cronJob({}, '2024-12-20T00:00:00Z'), schedule, time('12:05:00'))).toEqual({
    time: time('12:00:00'),
    manyMissed: true,
    neverRuns: false,
  })
  expect(
    dueRun(cronJob({ startingDeadlineSeconds: 60 }, '2025-01-01T09:00:00Z'), schedule, time('12:05:00')).time,
  ).toBeUndefined()
})

test('dueRun() recognizes a schedule that never fires', () => {
  expect(dueRun(cronJob(), parseCron('59 23 31 2 *'), now)).toEqual({
    time: undefined,
    manyMissed: false,
    neverRuns: true,
  })
})

test('nextRunIn() counts intervals from the last run', () => {
  const hourly = parseCron('@every 1h')
  expect(nextRunIn(cronJob({}, '2025-01-01T11:30:00Z'), hourly, now)).toBe(1_800_000)
  expect(nextRunIn(cronJob(), schedule, now)).toBe(600_000)
})

test('jobNameFor() returns the same name for the same run', () => {
  expect(jobNameFor(cronJob(), now)).toBe('tick-28928880')
})

test('planJobHistory() keeps the newest succeeded and failed jobs', () => {
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

test('dueRun() evaluates the schedule a bounded number of times, even after a gap and years of missed runs', () => {
  // No runs in June: the first two missed runs are a month apart, and the last two months have one each minute.
  const text = 'TZ=Europe/Berlin * * * 1-5,7-12 *'
  const parsed = parseCron(text)
  let calls = 0
  const counted = {
    next: (after: number) => {
      calls++
      return parsed.next(after)
    },
  }
  const late = Date.parse('2045-12-30T12:00:30Z')
  const due = dueRun(cronJob({ schedule: text }, '2025-05-31T21:58:00Z'), counted, late)
  expect(due).toEqual({ time: Date.parse('2045-12-30T12:00:00Z'), manyMissed: true, neverRuns: false })
  expect(calls).toBeLessThan(200)
})
