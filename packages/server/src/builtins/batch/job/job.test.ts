import { describe, expect, test } from 'vitest'
import type { MutableObject } from '../../../resource/object.ts'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { shownSelector, shownTemplate } from '../../../testdata/workload-object.ts'
import { jobs } from './job.ts'

const { createErrors, defaulted, prepared, resourceFor, updated } = strategyHarness(jobs)

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
  test.each<[string, object, object]>([
    [
      'default to one completion',
      {},
      { completions: 1, parallelism: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false },
    ],
    ['default no completions when parallelism is set', { parallelism: 3 }, { parallelism: 3 }],
    [
      'default to unlimited retries when retries per index are limited',
      { completionMode: 'Indexed', completions: 2, backoffLimitPerIndex: 1 },
      { backoffLimit: 2_147_483_647 },
    ],
    [
      'default to replacing failed pods when there is a failure policy',
      { podFailurePolicy: { rules: [] } },
      { podReplacementPolicy: 'Failed' },
    ],
  ])('%s', (_, spec, expected) => {
    expect(specOf(defaulted(job(spec)))).toMatchObject(expected)
  })

  test('leave completions out when only parallelism is set', () => {
    expect(specOf(defaulted(job({ parallelism: 3 })))).not.toHaveProperty('completions')
  })

  test('select their pods by uid and copy the labels of the pods', () => {
    const object = prepared(job())
    expect(object.metadata.labels).toEqual(ownLabels)
    expect(specOf(object)).toMatchObject({
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-1' } },
      template: { metadata: { labels: ownLabels } },
    })
  })

  test('keep labels that the client set', () => {
    expect(prepared(job({}, { labels: { a: 'b' } })).metadata.labels).toEqual({ a: 'b' })
  })

  test.each<[string, object, string[]]>([
    [
      'reject the restart policy Always',
      { template: { spec: { ...podSpec, restartPolicy: 'Always' } } },
      ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
    ],
    [
      'reject a back-off limit per index for jobs without indexes',
      { backoffLimitPerIndex: 1 },
      ['spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode'],
    ],
    [
      'reject a success policy for jobs without indexes',
      { successPolicy: { rules: [{ succeededCount: 1 }] } },
      [
        'spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: ' +
          'requires indexed completion mode',
      ],
    ],
    [
      'check pod failure policies',
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
      'reject managedBy without a domain',
      { managedBy: 'me' },
      ['spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo")'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(job(spec))).toEqual(errors)
  })

  test('reject a change of the template and show it as a Go struct', async () => {
    const { errors } = await updated(job(), (object) => {
      const { template } = specOf(object) as { template: { spec: { containers: { image: string }[] } } }
      template.spec.containers[0]!.image = 'i:2'
    })
    expect(errors).toHaveLength(1)
    expect(errors[0]).toMatch(
      /^spec\.template: Invalid value: \{"labels":\{.*"Spec":\{"Volumes":null,.*\}: field is immutable$/,
    )
  })

  test('allow scheduling changes while suspended', async () => {
    const { errors } = await updated(job({ suspend: true }), (object) => {
      const { template } = specOf(object) as { template: { spec: Record<string, unknown> } }
      template.spec['nodeSelector'] = { disk: 'ssd' }
    })
    expect(errors).toEqual([])
  })

  test.each<[string, object, object, string[]]>([
    ['accept Failed after FailureTarget', {}, failed(), []],
    [
      'reject Failed without FailureTarget',
      {},
      { startTime: '2026-01-01T00:00:00Z', conditions: [condition('Failed')] },
      ['status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition'],
    ],
    [
      'reject Complete without completionTime and SuccessCriteriaMet',
      {},
      { startTime: '2026-01-01T00:00:00Z', conditions: [condition('Complete')] },
      [
        'status.completionTime: Required value: completionTime is required for Complete jobs',
        'status.conditions: Invalid value: cannot set Complete=True condition without the SuccessCriteriaMet=true condition',
      ],
    ],
    [
      'reject more ready pods than active ones',
      {},
      { active: 1, ready: 2 },
      ['status.ready: Invalid value: 2: cannot set more ready pods than active'],
    ],
    [
      'ignore a missing ready count',
      {},
      { active: -1 },
      ['status.active: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'reject completed indexes of jobs without indexes',
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

  test('support the field selector status.successful', () => {
    const { selectors } = resourceFor('batch/v1', 'Job')
    const object = { ...prepared(job()), status: { succeeded: 2 } }
    expect(selectors.fields['status.successful']?.(object)).toBe('2')
    expect(selectors.unknownField?.('spec.x')).toBe('field label "spec.x" not supported for Job')
  })

  test('show completions and the duration of a running job', () => {
    expect(
      cellsOf(jobs, {
        spec: { completions: 4, parallelism: 2, selector: shownSelector, template: shownTemplate },
        status: { succeeded: 1, startTime: '2024-01-01T00:00:10Z' },
      }),
    ).toEqual(['x', 'Running', '1/4', '59m', '60m', 'c1,c2', 'i1,i2', 'a=b,k in (1,2)'])
  })

  test('show the state and duration of a completed job', () => {
    expect(
      cellsOf(jobs, {
        metadata: { deletionTimestamp: '2024-01-01T00:30:00Z' },
        spec: { parallelism: 2 },
        status: {
          startTime: '2024-01-01T00:00:00Z',
          completionTime: '2024-01-01T00:00:42Z',
          conditions: [
            { type: 'SuccessCriteriaMet', status: 'True' },
            { type: 'Complete', status: 'True' },
          ],
        },
      }),
    ).toEqual(['x', 'Complete', '0/1 of 2', '42s', '60m', '', '', '<none>'])
  })

  test('show a suspended job', () => {
    expect(
      cellsOf(jobs, { spec: { parallelism: 1 }, status: { conditions: [{ type: 'Suspended', status: 'True' }] } }),
    ).toEqual(['x', 'Suspended', '0/1', '', '60m', '', '', '<none>'])
  })
})

function condition(type: string): object {
  return { type, status: 'True' }
}

function failed(): object {
  return { startTime: '2026-01-01T00:00:00Z', failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] }
}
