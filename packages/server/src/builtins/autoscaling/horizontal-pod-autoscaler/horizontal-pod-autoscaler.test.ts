import { describe, expect, test } from 'vitest'
import type { MutableObject } from '../../../resource/object.ts'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { horizontalPodAutoscalers, horizontalPodAutoscalersV1 } from './horizontal-pod-autoscaler.ts'
import { hpaToV1, hpaToV2 } from './hpa-conversion.ts'

const { createErrors, defaulted, resourceFor, updated } = strategyHarness(
  horizontalPodAutoscalers,
  horizontalPodAutoscalersV1,
)

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' }

function hpa(spec: object, version = 'v2'): object {
  return {
    apiVersion: `autoscaling/${version}`,
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: 'h' },
    spec: { maxReplicas: 3, scaleTargetRef, ...spec },
  }
}

const memory = { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Gi' } } }
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 60 } } }

describe('horizontal pod autoscalers', () => {
  test('default to a CPU utilization of 80 per cent', () => {
    expect(defaulted(hpa({}))['spec']).toMatchObject({
      minReplicas: 1,
      metrics: [{ resource: { name: 'cpu', target: { averageUtilization: 80 } } }],
    })
    expect(defaulted(hpa({}, 'v1'))['spec']).toMatchObject({ minReplicas: 1, targetCPUUtilizationPercentage: 80 })
  })

  test('default both directions of the scaling behaviour', () => {
    const { behavior } = defaulted(hpa({ behavior: { scaleUp: { selectPolicy: 'Min' } } }))['spec'] as {
      behavior: object
    }
    expect(behavior).toEqual({
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Min',
        policies: [
          { type: 'Pods', value: 4, periodSeconds: 15 },
          { type: 'Percent', value: 100, periodSeconds: 15 },
        ],
      },
      scaleDown: { selectPolicy: 'Max', policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] },
    })
  })

  test.each<[string, object, string[]]>([
    ['accept several metrics', { metrics: [cpu, memory] }, []],
    [
      'reject contradicting bounds',
      { minReplicas: 0, maxReplicas: -1 },
      [
        'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
        'spec.maxReplicas: Invalid value: -1: must be greater than 0',
        'spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`',
        'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      ],
    ],
    [
      'require the group of the target',
      { scaleTargetRef: { kind: 'Deployment', name: 'd' } },
      ['spec.scaleTargetRef.apiVersion: Invalid value: "": apiVersion must specify API group'],
    ],
    [
      'reject unknown metrics',
      { metrics: [{ type: 'Odd' }] },
      Array(2).fill(
        'spec.metrics[0].type: Unsupported value: "Odd": supported values: ' +
          '"ContainerResource", "External", "Object", "Pods", "Resource"',
      ),
    ],
    [
      'reject two targets for one metric',
      {
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0, averageValue: '1' } },
          },
        ],
      },
      [
        'spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0',
        'spec.metrics[0].resource.target.averageValue: Forbidden: may not set both a target raw value and a target utilization',
      ],
    ],
    [
      'reject invalid scaling behaviour',
      {
        behavior: {
          scaleDown: { stabilizationWindowSeconds: 4000, policies: [{ type: 'Odd', value: 0, periodSeconds: 2000 }] },
        },
      },
      [
        'spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 4000: must be less than or equal to 3600',
        'spec.behavior.scaleDown.policies[0].type: Unsupported value: "Odd": supported values: "Percent", "Pods"',
        'spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater than zero',
        'spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 2000: must be less than or equal to 1800',
      ],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(hpa(spec))).toEqual(errors)
  })

  test('apply the rules of v2 to v1', async () => {
    expect(await createErrors(hpa({ maxReplicas: 0 }, 'v1'))).toEqual([
      'spec.maxReplicas: Invalid value: 0: must be greater than 0',
      'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
    ])
  })

  test('keep the status in v1, including annotations', async () => {
    const { object } = await updated(hpa({}, 'v1'), (next) => {
      next['status'] = { currentReplicas: 9 }
      next.metadata.annotations = { 'autoscaling.alpha.kubernetes.io/conditions': '[{"type":"x","status":"True"}]' }
    })
    expect(object['status']).not.toHaveProperty('currentReplicas', 9)
    expect(object.metadata.annotations).toBeUndefined()
  })
})

describe('hpaToV1()', () => {
  const object = defaulted(hpa({ metrics: [memory, cpu], behavior: {} }))
  object['status'] = {
    currentReplicas: 2,
    currentMetrics: [
      { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '1', averageUtilization: 40 } } },
    ],
    conditions: [{ type: 'AbleToScale', status: 'True', reason: 'R' }],
  }

  test('stores fields that v1 lacks in annotations', () => {
    const old = hpaToV1(object)
    expect(old['spec']).toMatchObject({ targetCPUUtilizationPercentage: 60 })
    expect(old['status']).toMatchObject({ currentReplicas: 2, currentCPUUtilizationPercentage: 40 })
    expect(old.metadata.annotations).toEqual({
      'autoscaling.alpha.kubernetes.io/metrics':
        '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"1Gi"}}]',
      'autoscaling.alpha.kubernetes.io/current-metrics':
        '[{"type":"Resource","resource":{"name":"cpu","currentAverageUtilization":40,"currentAverageValue":"1"}}]',
      'autoscaling.alpha.kubernetes.io/conditions':
        '[{"type":"AbleToScale","status":"True","lastTransitionTime":null,"reason":"R"}]',
      'autoscaling.alpha.kubernetes.io/behavior': expect.stringContaining(
        '{"ScaleUp":{"StabilizationWindowSeconds":0,',
      ),
    })
  })

  test('is undone by hpaToV2()', () => {
    const { codec } = resourceFor('autoscaling/v2', 'HorizontalPodAutoscaler')
    const back = hpaToV2(hpaToV1(object)) as MutableObject
    expect(codec.toWorkingForm(back)).toEqual(codec.toWorkingForm(object))
  })

  test('ignores malformed annotations', () => {
    const broken = hpaToV1(object)
    broken.metadata.annotations!['autoscaling.alpha.kubernetes.io/metrics'] = '{'
    expect(hpaToV2(broken)['spec']).toMatchObject({ metrics: [cpu] })
  })
})

describe('the table of horizontal pod autoscalers', () => {
  test('shows two metrics and the number of further ones', () => {
    expect(
      cellsOf(horizontalPodAutoscalers, {
        spec: {
          scaleTargetRef: { kind: 'Deployment', name: 'd' },
          minReplicas: 2,
          maxReplicas: 9,
          metrics: [
            { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
            { type: 'Pods', pods: { target: { averageValue: '10' } } },
            { type: 'External', external: { target: { value: '1' } } },
          ],
        },
        status: { currentReplicas: 3, currentMetrics: [{ resource: { current: { averageUtilization: 5 } } }] },
      }),
    ).toEqual(['x', 'Deployment/d', 'cpu: 5%/80%, <unknown>/10 + 1 more...', '2', 9, 3, '60m'])
  })

  test('shows metrics in annotations of version v1', () => {
    expect(
      cellsOf(horizontalPodAutoscalers, {
        metadata: {
          annotations: {
            'autoscaling.alpha.kubernetes.io/metrics': '[{"type":"Pods","pods":{"targetAverageValue":"10"}}]',
            'autoscaling.alpha.kubernetes.io/current-metrics':
              '[{"type":"Pods","pods":{"currentAverageValue":"4"}},{"type":"Resource","resource":{"currentAverageUtilization":7}}]',
          },
        },
        spec: { scaleTargetRef: { kind: 'K', name: 'n' }, maxReplicas: 2, targetCPUUtilizationPercentage: 50 },
      }),
    ).toEqual(['x', 'K/n', '4/10, cpu: 7%/50%', '<unset>', 2, 0, '60m'])
  })
})
