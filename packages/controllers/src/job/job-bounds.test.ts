import { expect, test } from 'vitest'
import { job, now, pod } from '../testdata/objects.ts'
import { Indexes } from './indexes.ts'
import { planJob } from './plan-job.ts'

const largest = 2 ** 31 - 1
const indexed = (index: number, facts: object = {}) =>
  pod({
    name: `job-${index}`,
    annotations: { 'batch.kubernetes.io/job-completion-index': String(index) },
    finalizers: ['batch.kubernetes.io/job-tracking'],
    ...facts,
  })

test('planJob() creates at most 500 pods at once, whatever parallelism and completions are', () => {
  expect(planJob(job({ parallelism: largest, completions: largest }), [], now).create).toHaveLength(500)
  const subject = job({ completionMode: 'Indexed', parallelism: 100_000, completions: largest })
  expect(planJob(subject, [], now).create).toEqual(Array.from({ length: 500 }, (_, index) => ({ index })))
  expect(planJob(subject, [indexed(1)], now).create.slice(0, 2)).toEqual([{ index: 0 }, { index: 2 }])
})

test('planJob() visits no index of the ranges in status and success policy', () => {
  const successPolicy = { rules: [{ succeededIndexes: `1-${largest - 1}`, succeededCount: largest - 3 }] }
  const subject = job(
    { completionMode: 'Indexed', parallelism: 10, completions: largest, backoffLimitPerIndex: 1, successPolicy },
    { completedIndexes: `0-${largest - 4}`, failedIndexes: `${largest - 3}` },
  )
  const plan = planJob(subject, [], now)
  expect(plan.create.map(({ index }) => index)).toEqual([largest - 2, largest - 1])
  expect(plan.status).toMatchObject({ succeeded: largest - 3, completedIndexes: `0-${largest - 4}` })
  const done = planJob(subject, [indexed(largest - 2, { phase: 'Succeeded' })], now)
  expect(done.status.conditions).toMatchObject([{ type: 'SuccessCriteriaMet' }])
})

test('planJob() counts at most 500 pods at once, and finishes the job when all are counted', () => {
  const tracked = Array.from({ length: 1200 }, (_, index) =>
    pod({ name: `p-${index}`, phase: 'Succeeded', finalizers: ['batch.kubernetes.io/job-tracking'] }),
  )
  const subject = job({ parallelism: 1200, completions: 1200 })
  const first = planJob(subject, tracked, now)
  expect(first.release).toHaveLength(500)
  expect(first.status.uncountedTerminatedPods?.succeeded).toHaveLength(500)
  expect(first.finish).toBeUndefined()
  const last = planJob(job(subject.spec, { succeeded: 1000 }), tracked.slice(1000), now)
  expect(last.release).toHaveLength(200)
  expect(last.finish).toMatchObject({ type: 'Complete' })
})

test('Indexes keeps ranges, not single indexes', () => {
  const all = Indexes.parse(`0-${largest}`, largest)
  expect(all.size).toBe(largest)
  expect([all.has(largest - 1), all.has(largest)]).toEqual([true, false])
  expect([...all.missing(largest)]).toEqual([])
  const some = Indexes.parse('3-5,9', 100)
  expect([...some.missing(8)]).toEqual([0, 1, 2, 6, 7])
  expect(some.with(Indexes.of([6, 8, 5])).toString()).toBe('3-6,8,9')
  expect([all.sizeWithin(some), some.sizeWithin(all), some.sizeWithin(Indexes.parse('0-3,5-9', 100))]).toEqual([
    4, 4, 3,
  ])
})

test('planJob() does not count pods without finalizer as failed indexes', () => {
  const subject = job({
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 0,
    suspend: true,
  })
  const deleted = indexed(0, { deleted: true, finalizers: [] })
  expect(planJob(subject, [deleted], now).status.failedIndexes).toBe('')
  expect(planJob(subject, [indexed(0, { deleted: true })], now).status.failedIndexes).toBe('0')
})
