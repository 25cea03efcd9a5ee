import type { KubeObject } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { AbsentOwners } from './absent-owners.ts'
import { ObjectGraph, type OwnerLink } from './object-graph.ts'

const link = (uid: string, more: Partial<OwnerLink> = {}): OwnerLink => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  name: uid,
  uid,
  ...more,
})
// Contains only the fields that the graph reads.
const object = (uid: string, owners: readonly OwnerLink[] = [], metadata: object = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: uid, uid, namespace: 'n', ownerReferences: owners, ...metadata },
  }) as unknown as KubeObject
const deleting = (finalizer: string): object => ({ deletionTimestamp: 't', finalizers: [finalizer] })

describe('ObjectGraph', () => {
  test('enqueues an object whose owner is unknown, and not one whose owner exists', () => {
    const graph = new ObjectGraph()
    expect(graph.set(object('b', [link('a')])).look).toEqual(['b'])
    expect(graph.node('a')).toMatchObject({ virtual: true })
    expect(graph.hasSolidOwners('b')).toBe(false)
    expect(graph.set(object('a')).look).toEqual([])
    expect(graph.hasSolidOwners('b')).toBe(true)
    expect(graph.set(object('c', [link('a')])).look).toEqual([])
  })

  test('enqueues the dependents of a deleted object', () => {
    const graph = new ObjectGraph()
    graph.set(object('a'))
    graph.set(object('b', [link('a')]))
    expect(graph.delete('a').look).toEqual(['b'])
    expect(graph.hasSolidOwners('b')).toBe(false)
    // The object was deleted in one version of its kind only, and reappears in another.
    graph.set(object('a'))
    expect(graph.dependents('a').map(({ uid }) => uid)).toEqual(['b'])
    expect(graph.delete('a').look).toEqual(['b'])
    graph.delete('b')
    expect(graph.size).toBe(0)
  })

  test('enqueues the dependents of a foreground deletion, and the object when a dependent stops blocking', () => {
    const graph = new ObjectGraph()
    const blocking = link('a', { blockOwnerDeletion: true })
    graph.set(object('a'))
    graph.set(object('b', [blocking]))
    graph.set(object('c', [link('a')]))
    expect(graph.blocking('a').map(({ uid }) => uid)).toEqual(['b'])
    expect(new Set(graph.set(object('a', [], deleting('foregroundDeletion'))).look)).toEqual(new Set(['a', 'b', 'c']))
    expect(graph.set(object('a', [], deleting('foregroundDeletion'))).look).toEqual([])
    expect(graph.set(object('b', [{ ...blocking, blockOwnerDeletion: false }])).look).toEqual(['a'])
    expect(graph.delete('c').look).toEqual(['a'])
    // Dependents added later are part of the deletion.
    expect(graph.set(object('d', [link('a')])).look).toEqual(['d'])
  })

  test('reports an object with the orphan finalizer', () => {
    const graph = new ObjectGraph()
    expect(graph.set(object('a', [], deleting('orphan'))).orphan).toEqual(['a'])
  })

  test.each([
    ['another name', link('a', { name: 'x' }), 'n', 0],
    ['another kind', link('a', { kind: 'Secret' }), 'n', 0],
    ['another group', link('a', { apiVersion: 'example.com/v1' }), 'n', 0],
    ['another namespace', link('a'), 'm', 1],
  ])(
    'a reference with %s is checked, in whatever order owner and dependent are seen',
    (_, owner, namespace, misplaced) => {
      const child = object('b', [owner], { namespace })
      const ownerFirst = new ObjectGraph()
      ownerFirst.set(object('a'))
      const seen = ownerFirst.set(child)
      expect([seen.look, seen.misplaced.length]).toEqual([['b'], misplaced])
      expect(ownerFirst.hasSolidOwners('b')).toBe(false)
      const childFirst = new ObjectGraph()
      childFirst.set(child)
      const later = childFirst.set(object('a'))
      expect([later.look, later.misplaced.length]).toEqual([['b'], misplaced])
    },
  )

  test('accepts another version of the group and cluster-scoped owners', () => {
    const graph = new ObjectGraph()
    graph.set(object('a', [], { namespace: undefined }))
    expect(graph.set(object('b', [link('a', { apiVersion: 'v2' })])).look).toEqual([])
  })
})

describe('AbsentOwners', () => {
  const place = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }

  test('identifies an owner by the namespace of the lookup', () => {
    const absent = new AbsentOwners()
    absent.add({ ...place, namespace: 'n' }, 'u')
    const owner = { ...place, uid: 'u' }
    expect([absent.has(owner, 'n'), absent.has(owner, 'm'), absent.has({ ...owner, name: 'b' }, 'n')]).toEqual([
      true,
      false,
      false,
    ])
    absent.add(place, 'u')
    expect(absent.has(owner, 'm')).toBe(true)
  })

  test('drops the oldest entries beyond its limit', () => {
    const absent = new AbsentOwners()
    for (let at = 0; at < 501; at++) absent.add(place, String(at))
    expect([absent.has({ ...place, uid: '0' }, 'n'), absent.has({ ...place, uid: '1' }, 'n')]).toEqual([false, true])
  })
})
