import { describe, expect, it } from 'vitest'
import type { MutableObject } from '../../resource/object.ts'
import { createErrors, defaulted, prepared, resourceFor, updated } from '../../testdata/strategy-harness.ts'

const podSpec = { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i:1' }] }

function job(spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'j', ...metadata },
    spec: { template: { spec: podSpec }, ...spec },
  }
}

const ownLabels = {
  'batch.kubernetes.io/controller-uid': 'uid-1',
  'batch.kubernetes.io/job-name': 'j',
  'controller-uid': 'uid-1',
  'job-name': 'j',
}

function specOf(object: MutableObject): Record<string, unknown> {
  return object['spec'] as Record<string, unknown>
}

describe('jobs', () => {
  it.each<[string, object, object]>([
    ['run once', {}, { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false }],
    ['keep open how often they run when only their parallelism is given', { parallelism: 3 }, { parallelism: 3 }],
    [
      'do not limit retries of all when they limit those of each',
      { completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 1 },
      { backoffLimit: 2_147_483_647 },
    ],
    [
      'replace failed pods only with a failure policy',
      { podFailurePolicy: { rules: [] } },
      { podReplacementPolicy: 'Failed' },
    ],
  ])('%s', (_, spec, expected) => {
    expect(specOf(defaulted(job(spec)))).toMatchObject(expected)
  })

  it('leave completions out when only parallelism is given', () => {
    expect(specOf(defaulted(job({ parallelism: 3 })))).not.toHaveProperty('completions')
  })

  it('select their own pods, and carry the labels of those', () => {
    const object = prepared(job())
    expect(object.metadata.labels).toEqual(ownLabels)
    expect(specOf(object)).toMatchObject({
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-1' } },
      template: { metadata: { labels: ownLabels } },
    })
  })

  it('keep labels of their own', () => {
    expect(prepared(job({}, { labels: { a: 'b' } })).metadata.labels).toEqual({ a: 'b' })
  })

  it.each<[string, object, string[]]>([
    [
      'refuse pods that always restart',
      { template: { spec: { ...podSpec, restartPolicy: 'Always' } } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'refuse limits for each index without indexes',
      { backoffLimitPerIndex: 1 },
      ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
    ],
    [
      'refuse a success policy without indexes',
      { successPolicy: { rules: [{ succeededCount: 1 }] } },
      [
        'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: ' +
          'requires indexed completion mode',
      ],
    ],
    [
      'check failure policies',
      {
        podFailurePolicy: {
          rules: [{ action: 'FailIndex', onExitCodes: { operator: 'In', values: [0, 2, 1] } }, { action: 'Odd' }],
        },
      },
      [
        'spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set',
        'spec.podFailurePolicy.rules[0].onExitCodes.values[0]: Invalid value: 0: must not be 0 for the In operator',
        'spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [0,2,1]: must be ordered',
        'spec.podFailurePolicy.rules[1].action: Unsupported value: "Odd": supported values: "Count", "FailIndex", "FailJob", "Ignore"',
        'spec.podFailurePolicy.rules[1]: Invalid value: specifying one of OnExitCodes and OnPodConditions is required',
      ],
    ],
    [
      'refuse a manager that is no domain-prefixed path',
      { managedBy: 'me' },
      ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(job(spec))).toEqual(errors)
  })

  it('keep their template, which errors print as Go has it', async () => {
    const { errors } = await updated(job(), (object) => {
      const { template } = specOf(object) as { template: { spec: { containers: { image: string }[] } } }
      template.spec.containers[0]!.image = 'i:2'
    })
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatch(
      /^spec\.template: Invalid value: \{"labels":\{.*"Spec":\{"Volumes":null,.*\}: field is immutable$/,
    )
  })

  it('may go to other nodes while they are suspended', async () => {
    const { errors } = await updated(job({ suspend: true }), (object) => {
      const { template } = specOf(object) as { template: { spec: Record<string, unknown> } }
      template.spec['nodeSelector'] = { disk: 'ssd' }
    })
    expect(errors).toEqual([])
  })

  it.each<[string, object, object, string[]]>([
    ['take a failure that was announced', {}, failed(), []],
    [
      'refuse a failure that was not',
      {},
      { startTime: '2026-01-01T00:00:00Z', conditions: [condition('Failed')] },
      ['status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition'],
    ],
    [
      'refuse a completion without its time and criteria',
      {},
      { startTime: '2026-01-01T00:00:00Z', conditions: [condition('Complete')] },
      [
        'status.completionTime: Required value: completionTime is required for Complete jobs',
        'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      ],
    ],
    [
      'refuse more ready pods than active ones',
      {},
      { active: 1, ready: 2 },
      ['status.ready: Invalid value: 2: cannot set more ready pods than active'],
    ],
    [
      'do not count ready pods that nobody told of',
      {},
      { active: -1 },
      ['status.active: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'refuse indexes of a Job without',
      {},
      { completedIndexes: '0' },
      [
        'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
      ],
    ],
  ])('%s', async (_, spec, status, errors) => {
    const change = (object: MutableObject): void => {
      object['status'] = status
    }
    expect((await updated(job(spec), change, 'status')).errors).toEqual(errors)
  })

  it('can be selected by the number of pods that succeeded', () => {
    const { selectors } = resourceFor('batch/v1', 'Job')
    const object = { ...prepared(job()), status: { succeeded: 2 } }
    expect(selectors.fields['status.successful']?.(object)).toBe('2')
    expect(selectors.unknownField?.('spec.x')).toBe('field label "spec.x" not supported for Job')
  })
})

function condition(type: string): object {
  return { type, status: 'True' }
}

function failed(): object {
  return { startTime: '2026-01-01T00:00:00Z', failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] }
}

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

  it.each<[string, object, string[]]>([
    ['accept a plain one', {}, []],
    ['want a schedule', { schedule: '' }, ['spec.schedule: Required value']],
    [
      'refuse a zone in the schedule',
      { schedule: 'TZ=UTC 0 * * * *' },
      [
        'spec.schedule: Invalid value: "TZ=UTC 0 * * * *": cannot use TZ or CRON_TZ in schedule, use timeZone field instead',
      ],
    ],
    [
      'refuse the zone of the machine',
      { timeZone: 'Local' },
      [
        'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones',
      ],
    ],
    [
      'refuse selectors, which are made',
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

  it('refuse names that leave no room for those of Jobs', async () => {
    const name = 'x'.repeat(53)
    expect(await createErrors(cronJob({}, name))).toEqual([
      `metadata.name: Invalid value: "${name}": must be no more than 52 characters`,
    ])
  })
})
