import type { ReconcileRecord } from '@kubewright/runtime'
import { describe, expect, test } from 'vitest'
import { reasonOf, resultOf, subjectOf } from './reconcile-text.ts'

const record: ReconcileRecord = {
  controller: 'home',
  key: 'default/cosy',
  reconcileID: 'id',
  causes: [],
  startedAt: 0,
  durationMillis: 12.4,
  result: 'success',
}

describe('subjectOf()', () => {
  test.each([
    ['default/cosy', 'home/cosy'],
    ['cosy', 'home/cosy'],
    ['team/cosy', 'home/cosy in team'],
  ])('names %s', (key, text) => expect(subjectOf('home', key)).toBe(text))
})

describe('resultOf()', () => {
  test.each([
    [{}, 'reconciled in 12 ms'],
    [{ durationMillis: 0.3 }, 'reconciled in <1 ms'],
    [{ result: 'requeue_after', requeueAfterMillis: 180_000 }, 'reconciled in 12 ms, requeued after 3m0s'],
    [{ result: 'conflict', requeueAfterMillis: 5.2 }, 'conflict after 12 ms, retry in 5ms'],
    [{ result: 'error', requeueAfterMillis: 1500 }, 'failed after 12 ms, retry in 1.5s'],
    [{ result: 'terminal_error' }, 'failed after 12 ms, no retry until something changes'],
  ] satisfies [Partial<ReconcileRecord>, string][])('describes %o', (change, text) => {
    expect(resultOf({ ...record, ...change })).toBe(text)
  })
})

describe('reasonOf()', () => {
  const reason = (...causes: Omit<ReconcileRecord['causes'][number], 'count'>[]): string =>
    reasonOf({ key: 'default/cosy', causes: causes.map((cause) => ({ ...cause, count: 1 })) }, 'example.com/v1 Home')
  const home = { kind: 'example.com/v1 Home', object: 'default/cosy' }
  const deployment = { kind: 'apps/v1 Deployment', object: 'default/cosy' }

  test('names another object, its changed fields and their manager', () => {
    const paths = ['metadata.resourceVersion', 'status.readyReplicas']
    expect(reason({ event: 'update', ...deployment, paths, by: ['kcm'] })).toBe(
      'because Deployment default/cosy changed status.readyReplicas (by kcm)',
    )
  })

  test('calls the object itself "it", but not an object of another kind with the same name', () => {
    expect(reason({ event: 'add', ...home }, { event: 'add', ...deployment })).toBe(
      'because it appeared and Deployment default/cosy appeared',
    )
    expect(reason({ event: 'update', ...home, paths: [] })).toBe('because it changed')
  })

  test('shortens long lists', () => {
    const paths = ['spec.a', 'spec.b', 'spec.c', 'spec.d', 'spec.e']
    expect(reason({ event: 'update', ...home, paths })).toBe('because it changed spec.a, spec.b, spec.c, 2 more')
    const many = ['a', 'b', 'c'].map((name) => ({
      event: 'delete' as const,
      kind: 'v1 Pod',
      object: `default/${name}`,
    }))
    expect(reason(...many)).toBe('because Pod default/a was deleted and Pod default/b was deleted, and 1 more')
  })

  test('mentions a retry only without another cause', () => {
    expect(reason({ event: 'retry' })).toBe('because the last attempt failed')
    expect(reason({ event: 'retry' }, { event: 'requeue' })).toBe('because it was requeued')
  })

  test('is empty without causes', () => expect(reason()).toBe(''))
})
