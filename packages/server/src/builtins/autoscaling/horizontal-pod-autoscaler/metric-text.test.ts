import { describe, expect, test } from 'vitest'
import { metricText } from './metric-text.ts'

type Spec = Parameters<typeof metricText>[0]
type Status = Parameters<typeof metricText>[1]

describe('metricText()', () => {
  test.each<[Spec, Status, string]>([
    [
      { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
      undefined,
      'cpu: <unknown>/80%',
    ],
    [
      { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
      { resource: { current: { averageUtilization: 0, averageValue: '1m' } } },
      'cpu: 0%/80%',
    ],
    [{ type: 'Resource', resource: { name: 'cpu', target: {} } }, undefined, 'cpu: <unknown>/<auto>'],
    [
      { type: 'Resource', resource: { name: 'memory', target: { averageValue: '1024Mi' } } },
      { resource: { current: { averageValue: '500M' } } },
      'memory: 500M/1Gi',
    ],
    [
      { type: 'ContainerResource', containerResource: { name: 'cpu', target: { averageUtilization: 50 } } },
      { containerResource: { current: { averageUtilization: 20 } } },
      'cpu: 20%/50%',
    ],
    [
      { type: 'Pods', pods: { target: { averageValue: '1k' } } },
      { pods: { current: { averageValue: '200m' } } },
      '200m/1k',
    ],
    [{ type: 'Pods', pods: { target: { averageValue: '1k' } } }, undefined, '<unknown>/1k'],
    [{ type: 'Object', object: { target: { value: '100' } } }, { object: { current: { value: 50 } } }, '50/100'],
    [{ type: 'Object', object: { target: { value: '100' } } }, { object: { current: {} } }, '<nil>/100'],
    [
      { type: 'Object', object: { target: { averageValue: '10' } } },
      { object: { current: { value: '5' } } },
      '<unknown>/10 (avg)',
    ],
    [
      { type: 'External', external: { target: { averageValue: '10' } } },
      { external: { current: { averageValue: '4' } } },
      '4/10 (avg)',
    ],
    [{ type: 'External', external: { target: { value: '10' } } }, undefined, '<unknown>/10'],
    [{ type: 'Odd' }, undefined, '<unknown type>'],
    // The form in annotations of autoscaling/v1.
    [
      { type: 'External', external: { targetAverageValue: '10' } },
      { external: { currentValue: '0', currentAverageValue: '4' } },
      '4/10 (avg)',
    ],
    [{ type: 'Object', object: { targetValue: '10' } }, { object: { currentValue: '4' } }, '4/10'],
    [
      { type: 'Resource', resource: { name: 'memory', targetAverageUtilization: 10 } },
      { resource: { currentAverageUtilization: 4 } },
      'memory: 4%/10%',
    ],
  ])('shows %j with %j as %s', (spec, status, text) => {
    expect(metricText(spec, status)).toBe(text)
  })
})
