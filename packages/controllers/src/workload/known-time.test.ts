import type { Pod, Service } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { TriggerTimes } from '../endpoints/trigger-times.ts'
import { knownTime } from './known-time.ts'
import { isPodAvailable, nextAvailability } from './pod-state.ts'

// What the server answers for a condition that was written without its times.
const timeless = {
  metadata: { name: 'p', namespace: 'n' },
  spec: { containers: [] },
  status: { conditions: [{ type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: null }] },
} as unknown as Pod

test('knownTime takes null for no time', () => {
  expect(knownTime(null)).toBeUndefined()
  expect(knownTime(undefined)).toBeUndefined()
  expect(knownTime('1970-01-01T00:00:01Z')).toBe(1000)
})

test('isPodAvailable counts pods that do not say since when they are ready only where no time is asked for', () => {
  expect(isPodAvailable(timeless, 0, 5000)).toBe(true)
  expect(isPodAvailable(timeless, 1, 5000)).toBe(false)
  expect(nextAvailability([timeless], 1, 5000)).toBeUndefined()
})

test('TriggerTimes passes pods over that do not say since when they are ready', () => {
  const service = { metadata: { name: 's', namespace: 'n', creationTimestamp: '2024-01-01T00:00:00Z' } } as Service
  const times = new TriggerTimes()
  expect(times.next(service, [timeless])).toBe('2024-01-01T00:00:00Z')
  expect(times.next(service, [timeless])).toBeUndefined()
})
