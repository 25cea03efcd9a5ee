import type { Job, Pod } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { job, now, type PodFacts, pod } from '../testdata/objects.ts'
import { Indexes } from './indexes.ts'
import { jobPod } from './job-pod.ts'
import { planJob, settleCounts } from './plan-job.ts'
import { expiresIn } from './ttl-after-finished-controller.ts'

const finalizers = ['batch.kubernetes.io/job-tracking']
const worker = (name: string, facts: PodFacts = {}): Pod => pod({ name, finalizers, ...facts })
const indexed = (index: number, facts: PodFacts = {}): Pod =>
  worker(`i${index}-${facts.name ?? ''}`, {
    ...facts,
    annotations: { 'batch.kubernetes.io/job-completion-index': String(index), ...facts.annotations },
  })
const plan = (subject: Job, ...pods: Pod[]) => planJob(subject, pods, now)
const started = { startTime: '2025-01-01T11:59:00Z' }

test('planJob() starts the pods needed, limited by parallelism', () => {
  expect(plan(job({ completions: 5, parallelism: 2 })).create).toHaveLength(2)
  expect(plan(job({ completions: 5, parallelism: 2 }), worker('a')).create).toHaveLength(1)
  expect(plan(job({ completions: 3, parallelism: 5 }, { succeeded: 2 })).create).toHaveLength(1)
  const { completions: _, ...queue } = job({ parallelism: 3 }).spec
  expect(planJob({ ...job(), spec: queue }, [], now).create).toHaveLength(3)
  expect(planJob({ ...job(), spec: queue }, [worker('a', { phase: 'Succeeded' })], now).create).toEqual([])
})

test('planJob() deletes pods when parallelism is lowered', () => {
  expect(plan(job({ completions: 9, parallelism: 1 }), worker('a', { ready: 5 }), worker('b')).delete).toMatchObject([
    { metadata: { name: 'b' } },
  ])
})

test('planJob() records a finished pod before it removes the finalizer', () => {
  const { finish, release, status } = plan(job({}, started), worker('a', { phase: 'Succeeded' }))
  expect(release).toHaveLength(1)
  expect(status.uncountedTerminatedPods).toEqual({ succeeded: ['uid-a'] })
  expect(status.succeeded).toBeUndefined()
  expect(status.conditions).toMatchObject([{ type: 'SuccessCriteriaMet', reason: 'CompletionsReached' }])
  expect(finish).toMatchObject({ type: 'Complete', reason: 'CompletionsReached' })
  expect(settleCounts(job(), status, new Set())).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} })
  expect(settleCounts(job(), status, new Set(['uid-a']))).toEqual(status)
})

test('planJob() counts each pod once, even after an interrupted reconcile', () => {
  const half = { ...started, uncountedTerminatedPods: { succeeded: ['uid-a'] } }
  const { create, status } = plan(job({ completions: 2, parallelism: 2 }, half), worker('a', { phase: 'Succeeded' }))
  expect(status.uncountedTerminatedPods).toEqual({ succeeded: ['uid-a'] })
  expect(create).toHaveLength(1)
})

test('planJob() does not count a pod as succeeded that was counted as failed while it ran', () => {
  const half = { ...started, uncountedTerminatedPods: { failed: ['uid-a'] } }
  const { release, status } = plan(job({ activeDeadlineSeconds: 1 }, half), worker('a', { phase: 'Succeeded' }))
  expect(status.uncountedTerminatedPods).toEqual({ failed: ['uid-a'] })
  expect(release).toHaveLength(1)
  expect(settleCounts(job(), status, new Set())).toMatchObject({ failed: 1, uncountedTerminatedPods: {} })
})

test('planJob() increases the back-off after each consecutive failure', () => {
  const failed = (name: string, ended: number) => worker(name, { phase: 'Failed', ended, exitCode: 1 })
  expect(plan(job(), failed('a', 4))).toMatchObject({ create: [], requeueAfter: 6000 })
  expect(plan(job(), failed('a', 60), failed('b', 4))).toMatchObject({ create: [], requeueAfter: 16_000 })
  expect(plan(job(), failed('a', 11)).create).toHaveLength(1)
})

test('planJob() fails the job beyond the back-off limit and deletes the other pods', () => {
  const failed = ['a', 'b'].map((name) => worker(name, { phase: 'Failed', ended: 60, exitCode: 1 }))
  const result = plan(job({ backoffLimit: 1, completions: 2, parallelism: 2 }, started), ...failed, worker('c'))
  expect(result.delete).toMatchObject([{ metadata: { name: 'c' } }])
  expect(result.status.conditions).toMatchObject([
    { type: 'FailureTarget', reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' },
  ])
  expect(result.status.terminating).toBe(1)
  expect(result.finish).toMatchObject({ type: 'Failed', reason: 'BackoffLimitExceeded' })
  expect(result.status.uncountedTerminatedPods?.failed).toHaveLength(3)
})

test('planJob() counts container restarts with restartPolicy OnFailure', () => {
  const template = { spec: { restartPolicy: 'OnFailure' as const, containers: [] } }
  expect(plan(job({ template, backoffLimit: 3 }), worker('a', { restarts: 3 })).finish).toMatchObject({
    type: 'Failed',
  })
  expect(plan(job({ template, backoffLimit: 3 }), worker('a', { restarts: 2 })).finish).toBeUndefined()
})

test('planJob() fails the job at its deadline and requeues for it', () => {
  expect(plan(job({ activeDeadlineSeconds: 90 }, started), worker('a')).requeueAfter).toBe(30_000)
  expect(plan(job({ activeDeadlineSeconds: 60 }, started), worker('a')).finish).toMatchObject({
    reason: 'DeadlineExceeded',
  })
})

test('planJob() suspends and resumes', () => {
  const suspended = plan(job({ suspend: true }, started), worker('a'))
  expect(suspended.delete).toHaveLength(1)
  expect(suspended.status.conditions).toMatchObject([{ type: 'Suspended', status: 'True', reason: 'JobSuspended' }])
  expect([suspended.dismisses, suspended.status.startTime]).toEqual([true, started.startTime])
  const resumed = plan(job({ suspend: false }, { conditions: suspended.status.conditions ?? [] }))
  expect(resumed.status.conditions).toMatchObject([
    { type: 'Suspended', status: 'False', reason: 'JobResumed', message: 'Job resumed' },
  ])
  expect(resumed.status.startTime).toBe('2025-01-01T12:00:00Z')
  expect(resumed.create).toHaveLength(1)
  expect(plan(job()).status.conditions).toBeUndefined()
})

test('planJob() assigns the missing indexes', () => {
  const subject = job(
    { completionMode: 'Indexed', completions: 4, parallelism: 3 },
    { ...started, completedIndexes: '1' },
  )
  expect(plan(subject, indexed(0)).create).toEqual([{ index: 2 }, { index: 3 }])
  const done = plan(subject, indexed(0, { phase: 'Succeeded' }), indexed(2), indexed(3))
  expect(done.status).toMatchObject({ completedIndexes: '0,1', succeeded: 2, uncountedTerminatedPods: {} })
  expect(plan(subject, indexed(0), indexed(0, { name: 'twice', age: 9 }), indexed(9)).delete).toHaveLength(2)
})

test('planJob() limits failures per index', () => {
  const subject = job({
    completionMode: 'Indexed',
    completions: 2,
    parallelism: 2,
    backoffLimitPerIndex: 1,
    backoffLimit: 99,
  })
  const failed = (index: number, failures: string) =>
    indexed(index, {
      phase: 'Failed',
      ended: 60,
      exitCode: 1,
      annotations: { 'batch.kubernetes.io/job-index-failure-count': failures },
    })
  const retry = plan(subject, failed(0, '0'), indexed(1))
  expect(retry.create).toEqual([{ index: 0, failures: 1 }])
  expect(retry.release).toEqual([])
  expect(plan(subject, failed(0, '1'), indexed(1)).status.failedIndexes).toBe('0')
  expect(plan(subject, failed(0, '1'), indexed(1, { phase: 'Succeeded' })).finish).toMatchObject({
    type: 'Failed',
    reason: 'FailedIndexes',
  })
})

test('planJob() follows the failure policy', () => {
  const rule = (action: string) => ({ rules: [{ action, onExitCodes: { operator: 'In', values: [42] } }] }) as never
  const failed = worker('a', { phase: 'Failed', ended: 60, exitCode: 42 })
  expect(plan(job({ podFailurePolicy: rule('FailJob') }), failed).finish).toMatchObject({
    type: 'Failed',
    reason: 'PodFailurePolicy',
    message: 'Container c for pod test/a failed with exit code 42 matching FailJob rule at index 0',
  })
  const ignored = plan(job({ podFailurePolicy: rule('Ignore') }), failed)
  expect(ignored).toMatchObject({ finish: undefined, create: [{}], status: { uncountedTerminatedPods: {} } })
})

test('planJob() completes early by the success policy', () => {
  const successPolicy = { rules: [{ succeededIndexes: '0-1', succeededCount: 1 }] }
  const subject = job({ completionMode: 'Indexed', completions: 3, parallelism: 3, successPolicy })
  const result = plan(subject, indexed(1, { phase: 'Succeeded' }), indexed(2))
  expect(result.finish).toMatchObject({
    type: 'Complete',
    reason: 'SuccessPolicy',
    message: 'Matched rules at index 0',
  })
  expect(result.delete).toHaveLength(1)
})

test('planJob() releases all pods of a job that is being deleted', () => {
  const result = planJob(job({}, undefined, { deleted: true }), [worker('a')], now)
  expect(result).toMatchObject({ create: [], delete: [], release: [{ metadata: { name: 'a' } }] })
})

test.each([
  ['', ''],
  ['3', '3'],
  ['0,1,2,4,5', '0-2,4,5'],
  ['0-3,7', '0-3,7'],
])('Indexes reads %j and writes %j', (text, written) => {
  expect(Indexes.parse(text, 100).toString()).toBe(written)
})

test('Indexes.parse() drops entries beyond the limit and invalid ones', () => {
  expect(Indexes.parse('1-9,x,2-', 4).toString()).toBe('1-3')
})

test('jobPod() has the tracking finalizer and the completion index', () => {
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'x' }] } }
  const draft = jobPod(job({ template }), 3, 2)
  expect(draft.metadata).toMatchObject({
    generateName: 'job-3-',
    finalizers,
    labels: { 'batch.kubernetes.io/job-completion-index': '3' },
  })
  expect(draft.spec.hostname).toBe('job-3')
  expect(draft.spec.containers[0]?.env?.[0]?.name).toBe('JOB_COMPLETION_INDEX')
})

test('expiresIn() counts from the finish time of the job', () => {
  const done = {
    conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: '2025-01-01T11:59:50Z' }],
  } as never
  expect(expiresIn(job({ ttlSecondsAfterFinished: 30 }, done), now)).toBe(20_000)
  expect(expiresIn(job({ ttlSecondsAfterFinished: 5 }, done), now)).toBe(0)
  expect(expiresIn(job({ ttlSecondsAfterFinished: 5 }), now)).toBeUndefined()
  expect(expiresIn(job({}, done), now)).toBeUndefined()
})
