import { expect, test } from 'vitest'
import { findTroubles } from '../../packages/console/page/src/find-troubles.ts'
import type { CauseView, ReconcileView } from '../../packages/console/src/wire/operator-view.ts'

/** A reconcile for each cause, 100 ms apart, newest first. */
function reconciles(causes: readonly Partial<CauseView>[]): ReconcileView[] {
  return causes
    .map((cause, index) => ({
      controller: 'home',
      key: 'default/a',
      id: String(index),
      startedAt: new Date(index * 100).toISOString(),
      durationMillis: 1,
      result: 'success',
      causes: [{ event: 'update', kind: 'apps/v1 Deployment', object: 'default/a', count: 1, ...cause }],
    }))
    .reverse()
}

test('findTroubles() reports the field of a hot loop and its writer', () => {
  const own = { paths: ['status.time', 'metadata.generation'], by: ['operator'] }
  expect(findTroubles(reconciles(Array.from({ length: 12 }, () => own)))).toEqual([
    {
      type: 'loop',
      key: 'home default/a',
      field: 'status.time',
      of: 'apps/v1 Deployment default/a',
      count: 12,
      millis: 1100,
      writers: ['operator'],
    },
  ])
})

test('findTroubles() reports two writers that overwrite the same field in turn', () => {
  const causes = ['operator', 'kubectl', 'operator', 'kubectl'].map((by) => ({ paths: ['spec.replicas'], by: [by] }))
  expect(findTroubles(reconciles(causes))).toMatchObject([
    { type: 'fight', field: 'spec.replicas', count: 4, writers: ['kubectl', 'operator'] },
  ])
})

test.each<[string, Partial<CauseView>[]]>([
  ['many different fields', Array.from({ length: 20 }, (_, index) => ({ paths: [`status.f${index}`], by: ['a'] }))],
  ['one correction of a manual change', ['kubectl', 'operator', 'kcm'].map((by) => ({ paths: ['spec.x'], by: [by] }))],
  ['merged changes of several writers', Array.from({ length: 5 }, () => ({ paths: ['status.x'], by: ['a', 'b'] }))],
  ['requeues', Array.from({ length: 20 }, () => ({ event: 'requeue' }))],
])('findTroubles() does not report %s', (_, causes) => {
  expect(findTroubles(reconciles(causes))).toEqual([])
})
