import { describe, expect, test } from 'vitest'
import { type NamespaceRemains, namespaceConditions } from './namespace-conditions.ts'

const now = Date.UTC(2025, 0, 1)
const nothing: NamespaceRemains = { objects: new Map(), finalizers: new Map(), contentErrors: [] }
const stuck: NamespaceRemains = {
  objects: new Map([
    ['pods.', 2],
    ['deployments.apps', 1],
  ]),
  finalizers: new Map([['example.com/hold', 3]]),
  contentErrors: ['b', 'a'],
  discoveryError: 'no answer',
}

describe('namespaceConditions()', () => {
  test('sets five conditions to False when nothing is in the way', () => {
    expect(namespaceConditions([], nothing, now)?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
      ['NamespaceDeletionDiscoveryFailure', 'False', 'ResourcesDiscovered'],
      ['NamespaceDeletionGroupVersionParsingFailure', 'False', 'ParsedGroupVersions'],
      ['NamespaceDeletionContentFailure', 'False', 'ContentDeleted'],
      ['NamespaceContentRemaining', 'False', 'ContentRemoved'],
      ['NamespaceFinalizersRemaining', 'False', 'ContentHasNoFinalizers'],
    ])
  })

  test('reports remaining objects and errors in order', () => {
    const conditions = namespaceConditions([], stuck, now) ?? []
    expect(conditions.filter(({ status }) => status === 'True').map(({ message }) => message)).toEqual([
      'no answer',
      'Failed to delete all resource types, 2 remaining: a, b',
      'Some resources are remaining: deployments.apps has 1 resource instances, pods. has 2 resource instances',
      'Some content in the namespace has finalizers remaining: example.com/hold in 3 resource instances',
    ])
  })

  test('returns undefined without changes, and changes times only with the status', () => {
    const first = namespaceConditions([], stuck, now) ?? []
    expect(namespaceConditions(first, stuck, now + 1000)).toBeUndefined()
    const fewer = { ...stuck, objects: new Map([['pods.', 1]]) }
    const second = namespaceConditions(first, fewer, now + 1000) ?? []
    expect(second[3]).toMatchObject({ status: 'True', lastTransitionTime: '2025-01-01T00:00:00Z' })
    const third = namespaceConditions(second, nothing, now + 2000) ?? []
    expect(third[3]).toMatchObject({ status: 'False', lastTransitionTime: '2025-01-01T00:00:02Z' })
    expect(third[1]).toMatchObject({ lastTransitionTime: '2025-01-01T00:00:00Z' })
  })
})
