import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { shownSelector, shownTemplate, workload } from '../../../testdata/workload-object.ts'
import { deployments } from './deployment.ts'

const { createErrors, createWarnings, defaulted, prepared, resourceFor, updated } = strategyHarness(deployments)

describe('deployments', () => {
  test('default replicas, strategy, history and deadline', () => {
    expect(defaulted(workload('Deployment'))['spec']).toMatchObject({
      replicas: 1,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
    })
  })

  test('set no rolling update for the strategy Recreate', () => {
    expect(defaulted(workload('Deployment', { strategy: { type: 'Recreate' } }))['spec']).toMatchObject({
      strategy: { type: 'Recreate' },
    })
  })

  test.each<[string, object, string[]]>([
    ['accept a minimal object', {}, []],
    [
      'reject negative replicas',
      { replicas: -1 },
      ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'require a selector',
      { selector: undefined },
      [
        'spec.selector: Required value',
        'spec.template.metadata.labels: Invalid value: {"app":"x"}: `selector` does not match template `labels`',
      ],
    ],
    [
      'reject an empty selector',
      { selector: {} },
      ['spec.selector: Invalid value: {}: empty selector is invalid for deployment'],
    ],
    [
      'reject maxSurge and maxUnavailable of 0',
      { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0'],
    ],
    [
      'reject percentages above 100',
      { strategy: { rollingUpdate: { maxUnavailable: '101%' } } },
      ['spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    ],
    [
      'reject an unknown strategy and show its Go fields',
      { strategy: { type: 'Odd' } },
      [
        'spec.strategy: Unsupported value: {"Type":"Odd","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
      ],
    ],
    [
      'reject a rolling update for the strategy Recreate',
      { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } },
      ["spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'"],
    ],
    [
      'reject a progress deadline that does not exceed minReadySeconds',
      { minReadySeconds: 600 },
      ['spec.progressDeadlineSeconds: Invalid value: 600: must be greater than minReadySeconds'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(workload('Deployment', spec))).toEqual(errors)
  })

  test('reject a change of the selector', async () => {
    const { errors } = await updated(workload('Deployment'), (object) => {
      const spec = object['spec'] as { selector: object; template: { metadata: { labels: object } } }
      spec.selector = { matchLabels: { app: 'y' } }
      spec.template.metadata.labels = { app: 'y' }
    })
    expect(errors).toEqual(['spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable'])
  })

  test('reject a status with more ready replicas than replicas', async () => {
    const { errors } = await updated(
      workload('Deployment'),
      (object) => {
        object['status'] = { replicas: 1, readyReplicas: 2 }
      },
      'status',
    )
    expect(errors).toEqual(['status.readyReplicas: Invalid value: 2: cannot be greater than status.replicas'])
  })

  test('increase the generation when an annotation changes', () => {
    const rule = resourceFor('apps/v1', 'Deployment').strategy.generation as (a: object, b: object) => boolean
    const object = prepared(workload('Deployment'))
    expect(rule(object, object)).toBe(false)
    expect(rule({ ...object, metadata: { ...object.metadata, annotations: { a: 'b' } } }, object)).toBe(true)
  })

  test('warn about a name that is no DNS label', () => {
    const [warning] = createWarnings(workload('Deployment', {}, { name: 'a.b' }))
    expect(warning).toBe(
      'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; ' +
        'a DNS label is recommended: [must not contain dots]',
    )
  })

  test('show replica counts, containers and the selector', () => {
    expect(
      cellsOf(deployments, {
        spec: { replicas: 3, selector: shownSelector, template: shownTemplate },
        status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
      }),
    ).toEqual(['x', '1/3', 2, 1, '60m', 'c1,c2', 'i1,i2', 'a=b,k in (1,2)'])
  })
})
