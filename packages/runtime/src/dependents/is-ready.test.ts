import { describe, expect, test } from 'vitest'
import { isReady } from './is-ready.ts'

const object = (apiVersion: string, kind: string, spec: object, status?: object) => ({
  apiVersion,
  kind,
  metadata: { name: 'a', generation: 2, uid: 'a', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
  ...(status && { status }),
})
const conditions = (type: string, status = 'True') => ({ conditions: [{ type, status }] })

describe('isReady()', () => {
  test.each([
    ['apps/v1', 'Deployment', { replicas: 2 }, { updatedReplicas: 2, availableReplicas: 2 }, true],
    ['apps/v1', 'Deployment', { replicas: 2 }, { updatedReplicas: 1, availableReplicas: 3 }, false],
    [
      'apps/v1',
      'Deployment',
      { replicas: 2 },
      { observedGeneration: 1, updatedReplicas: 2, availableReplicas: 2 },
      false,
    ],
    ['apps/v1', 'Deployment', { replicas: 2 }, undefined, false],
    ['apps/v1', 'StatefulSet', { replicas: 1 }, { updatedReplicas: 1, readyReplicas: 1 }, true],
    ['apps/v1', 'DaemonSet', {}, { desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 2 }, false],
    ['apps/v1', 'DaemonSet', {}, {}, false],
    ['batch/v1', 'Job', {}, conditions('Complete'), true],
    ['batch/v1', 'Job', {}, conditions('Failed'), false],
    ['v1', 'PersistentVolumeClaim', {}, { phase: 'Pending' }, false],
    ['v1', 'Service', { type: 'ClusterIP' }, undefined, true],
    ['v1', 'Service', { type: 'LoadBalancer' }, { loadBalancer: {} }, false],
    ['example.com/v1', 'Home', {}, conditions('Ready', 'False'), false],
    ['example.com/v1', 'Home', {}, conditions('Ready'), true],
    ['v1', 'ConfigMap', {}, undefined, true],
  ])('returns for %s %s with spec %j and status %j: %s', (apiVersion, kind, spec, status, expected) => {
    expect(isReady(object(apiVersion, kind, spec, status))).toBe(expected)
  })
})
