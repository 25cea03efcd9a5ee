import type { Pod, Service } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { TriggerTimes } from '../endpoints/trigger-times.ts'
import { knownTime } from './known-time.ts'
import { isPodAvailable, nextAvailability } from './pod-state.ts'

// The server returns null for the times of a condition that was written without them.
const timeless = {
  metadata: { name: 'p', namespace: 'n' },
  spec: { containers: [] },
  status: { conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }] },
} as unknown as Pod

test('knownTime() returns undefined for null', () => {
  expect(knownTime(null)).toBeUndefined()
  expect(knownTime(undefined)).toBeUndefined()
  expect(knownTime('1970-01-01T00:00:01Z')).toBe(1000)
})

test('isPodAvailable() accepts pods without a ready time only when minReadySeconds is 0', () => {
  expect(isPodAvailable(timeless, 0, 5000)).toBe(true)
  expect(isPodAvailable(timeless, 1, 5000)).toBe(false)
  expect(nextAvailability([timeless], 1, 5000)).toBeUndefined()
})

test('TriggerTimes skips pods without a ready time', () => {
  const service = { metadata: { name: 's', namespace: 'n', creationTimestamp: '2024-01-01T00:00:00Z' } } as Service
  const times = new TriggerTimes()
  expect(times.next(service, [timeless])).toBe('2024-01-01T00:00:00Z')
  expect(times.next(service, [timeless])).toBeUndefined()
})
