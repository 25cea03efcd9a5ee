import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { shownTemplate } from '../../../testdata/workload-object.ts'
import { cronJobs } from './cron-job.ts'

const { createErrors } = strategyHarness(cronJobs)

const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] }

describe('cron jobs', () => {
  function cronJob(spec: object, name = 'c'): object {
    const jobTemplate = { spec: { template: { spec: podSpec } } }
    return {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name },
      spec: { schedule: '* * * * *', jobTemplate, ...spec },
    }
  }

  test.each<[string, object, string[]]>([
    ['accept a minimal object', {}, []],
    ['require a schedule', { schedule: '' }, ['spec.schedule: Required value']],
    [
      'reject a time zone in the schedule',
      { schedule: 'TZ=UTC 0 * * * *' },
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'reject the local time zone',
      { timeZone: 'Local' },
      [
        'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ],
    ],
    [
      'reject selectors, which the server generates',
      {
        jobTemplate: {
          spec: { template: { spec: podSpec }, manualSelector: true, selector: { matchLabels: { a: 'b' } } },
        },
      },
      [
        'spec.jobTemplate.spec.selector: Invalid value: {"matchLabels":{"a":"b"}}: `selector` will be auto-generated',
        'spec.jobTemplate.spec.manualSelector: Unsupported value: true: supported values: "nil", "false"',
      ],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(cronJob(spec))).toEqual(errors)
  })

  test('reject names that are too long for the names of their jobs', async () => {
    const name = 'x'.repeat(53)
    expect(await createErrors(cronJob({}, name))).toEqual([
      `metadata.name: Invalid value: "${name}": must be no more than 52 characters`,
    ])
  })

  test('show the schedule and the time since the last run', () => {
    expect(
      cellsOf(cronJobs, {
        spec: {
          schedule: '* * * * *',
          timeZone: 'Etc/UTC',
          suspend: false,
          jobTemplate: { spec: { template: shownTemplate } },
        },
        status: { active: [{}], lastScheduleTime: '2024-01-01T00:59:00Z' },
      }),
    ).toEqual(['x', '* * * * *', 'Etc/UTC', 'False', 1, '60s', '60m', 'c1,c2', 'i1,i2', '<none>'])
  })
})
