import { type Draft, isInvalid } from 'kubewright'
import { controllerRef } from 'kubewright/api'
import { Job } from 'kubewright/k8s'
import { startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, TestRunner, test } from 'vitest'
import { CronJob } from './cron-job.ts'
import { operator } from './operator.ts'

type Spec = Partial<Draft<typeof CronJob>['spec']>

const pod = {
  template: { spec: { containers: [{ name: 'test', image: 'test-image' }], restartPolicy: 'OnFailure' as const } },
}
const cronJob = (spec: Spec = {}, name = 'test-cronjob') =>
  CronJob({ metadata: { name }, spec: { schedule: '1 * * * *', jobTemplate: { spec: pod }, ...spec } })

/** Without the controllers of Jobs and Pods, so that the tests decide when a Job ends. */
const start = (): Promise<TestEnv> =>
  startTestEnv(operator, {
    time: 'virtual',
    controllers: ['garbage-collector-controller'],
    nodes: 0,
    // On a cluster, tests that let time pass are skipped.
    skip: (reason) => TestRunner.getCurrentTest()?.context.skip(reason),
  })
const reasonOf = ({ status }: CronJob, type: 'Available' | 'Progressing' | 'Degraded') =>
  status?.conditions.find((condition) => condition.type === type)?.reason
/** The name of the Job of the minute, counted from the start of the environment. */
const jobOf = (minute: number) => `test-cronjob-${Date.parse('2025-01-01T00:00:00Z') / 1000 + minute * 60}`
const jobNames = async (env: TestEnv) => (await env.client.list(Job)).map(({ metadata }) => metadata.name)

async function finish(env: TestEnv, name: string, type: 'Complete' | 'Failed'): Promise<void> {
  const time = new Date(env.clock.now()).toISOString()
  const target = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget'
  const conditions = [target, type].map((each) => ({ type: each, status: 'True' as const }))
  const end = type === 'Complete' ? { completionTime: time } : {}
  await env.client.subresource(Job, 'status').patch(name, { status: { startTime: time, conditions, ...end } })
}

describe('a CronJob', () => {
  test('reports the Jobs that it owns', async () => {
    await using env = await start()
    await env.client.create(cronJob())
    const idle = await env.until(CronJob, 'test-cronjob', (object) => object.status !== undefined)
    expect([idle.status?.active, reasonOf(idle, 'Available')]).toEqual([[], 'AllJobsCompleted'])

    const ownerReferences = [controllerRef(idle)]
    await env.client.create(Job({ metadata: { name: 'test-job', ownerReferences }, spec: pod }))
    const busy = await env.until(CronJob, 'test-cronjob', ({ status }) => status?.active.length === 1)
    expect(busy.status?.active).toMatchObject([{ kind: 'Job', name: 'test-job' }])
    expect(reasonOf(busy, 'Available')).toBe('JobsActive')
  })

  test('starts a Job at each time of its schedule', async () => {
    await using env = await start()
    await env.client.create(cronJob({ schedule: '*/5 * * * *' }))
    await env.advance('16m')
    const jobs = await env.client.list(Job)
    expect(jobs).toHaveLength(3)
    expect(jobs[0]).toMatchObject({
      metadata: {
        name: jobOf(5),
        annotations: { 'batch.tutorial.kubebuilder.io/scheduled-at': '2025-01-01T00:05:00.000Z' },
      },
      spec: pod,
    })
  })

  test.each([
    ['Allow', [1, 2]],
    ['Forbid', [1]],
    ['Replace', [2]],
  ] as const)(
    'with the concurrency policy %s has the Jobs of the minutes %j after two minutes',
    async (concurrencyPolicy, minutes) => {
      await using env = await start()
      await env.client.create(cronJob({ schedule: '* * * * *', concurrencyPolicy }))
      await env.advance('150s')
      expect(new Set(await jobNames(env))).toEqual(new Set(minutes.map(jobOf)))
    },
  )

  test('keeps the most recent Jobs within its history limits', async () => {
    await using env = await start()
    await env.client.create(
      cronJob({ schedule: '* * * * *', successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 1 }),
    )
    for (const minute of [1, 2, 3, 4]) {
      await env.advance('1m')
      await finish(env, jobOf(minute), minute % 2 === 0 ? 'Complete' : 'Failed')
    }
    await env.settled()
    expect(await jobNames(env)).toEqual([jobOf(3), jobOf(4)])
    expect(reasonOf(await env.client.get(CronJob, 'test-cronjob'), 'Degraded')).toBe('JobsFailed')
  })

  test('starts no Job while it is suspended', async () => {
    await using env = await start()
    await env.client.create(cronJob({ schedule: '* * * * *', suspend: true }))
    await env.advance('10m')
    expect(await jobNames(env)).toEqual([])
    expect(reasonOf(await env.client.get(CronJob, 'test-cronjob'), 'Available')).toBe('Suspended')
  })

  test('skips runs that missed their deadline, and reports too many missed runs', async () => {
    await using env = await start()
    await env.client.create(cronJob({ schedule: '0 * * * *', suspend: true, startingDeadlineSeconds: 60 }, 'late'))
    await env.client.create(cronJob({ schedule: '* * * * *', suspend: true }, 'lost'))
    await env.advance('150m')
    for (const name of ['late', 'lost']) await env.client.patch(CronJob, name, { spec: { suspend: false } })
    await env.settled()
    expect(await jobNames(env)).toEqual([])
    expect(reasonOf(await env.client.get(CronJob, 'late'), 'Degraded')).toBe('MissedSchedule')
    expect(reasonOf(await env.client.get(CronJob, 'lost'), 'Degraded')).toBe('InvalidSchedule')
  })
})

describe('the webhook of CronJobs', () => {
  test('sets defaults and keeps other values', async () => {
    await using env = await start()
    const { spec } = await env.client.create(cronJob())
    const defaults = {
      concurrencyPolicy: 'Allow',
      suspend: false,
      successfulJobsHistoryLimit: 3,
      failedJobsHistoryLimit: 1,
    }
    expect(spec).toMatchObject(defaults)
    const given = {
      concurrencyPolicy: 'Forbid',
      suspend: true,
      successfulJobsHistoryLimit: 5,
      failedJobsHistoryLimit: 2,
    } as const
    expect((await env.client.create(cronJob(given, 'other'))).spec).toMatchObject(given)
  })

  test('rejects long names and invalid schedules, on create and on update', async () => {
    await using env = await start()
    const name = 'this-name-is-way-too-long-and-should-fail-validation-because-it-is'
    await expect(env.client.create(cronJob({}, name))).rejects.toThrow('must be no more than 52 characters')
    const schedule = 'invalid-cron-schedule'
    await expect(env.client.create(cronJob({ schedule }))).rejects.toThrow(/expected exactly 5 fields, found 1/i)
    await env.client.create(cronJob())
    await expect(env.client.patch(CronJob, 'test-cronjob', { spec: { schedule } })).rejects.toSatisfy(isInvalid)
    await env.client.patch(CronJob, 'test-cronjob', { spec: { schedule: '0 0 * * *' } })
  })
})
