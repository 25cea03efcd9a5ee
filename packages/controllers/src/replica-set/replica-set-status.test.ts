import { expect, test } from 'vitest'
import { now, pod } from '../testdata/objects.ts'
import { type ReplicaFacts, replicaStatus } from './replica-set-status.ts'

const facts = (more: Partial<ReplicaFacts> = {}): ReplicaFacts => ({
  generation: 2,
  wanted: 2,
  minReadySeconds: 0,
  templateLabels: { app: 'web' },
  active: [],
  terminating: 0,
  failure: undefined,
  now,
  ...more,
})

test('replicaStatus() counts all, fully labelled, ready and available pods', () => {
  const active = [
    pod({ labels: { app: 'web', more: 'x' }, ready: 60 }),
    pod({ labels: { app: 'web' }, ready: 5 }),
    pod({ labels: {} }),
  ]
  expect(replicaStatus(undefined, facts({ active, minReadySeconds: 30, terminating: 1 }))).toEqual({
    replicas: 3,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 1,
    terminatingReplicas: 1,
    observedGeneration: 2,
  })
})

test('replicaStatus() omits zeros, except replicas and terminatingReplicas', () => {
  expect(replicaStatus(undefined, facts())).toEqual({ replicas: 0, terminatingReplicas: 0, observedGeneration: 2 })
  expect(replicaStatus(undefined, facts({ terminating: undefined }))).toEqual({ replicas: 0, observedGeneration: 2 })
})

test('replicaStatus() adds the condition of a failure once and removes it afterwards', () => {
  const failed = replicaStatus(undefined, facts({ failure: new Error('exceeded quota') }))
  expect(failed.conditions).toEqual([
    {
      type: 'ReplicaFailure',
      status: 'True',
      reason: 'FailedCreate',
      message: 'exceeded quota',
      lastTransitionTime: '2025-01-01T12:00:00Z',
    },
  ])
  const again = replicaStatus(failed, facts({ failure: new Error('another'), now: now + 5000 }))
  expect(again.conditions).toEqual(failed.conditions)
  expect(replicaStatus(failed, facts()).conditions).toBeUndefined()
})
