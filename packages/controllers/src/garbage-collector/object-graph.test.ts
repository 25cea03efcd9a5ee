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
// Only what the graph reads.
const object = (uid: string, owners: readonly OwnerLink[] = [], metadata: object = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: uid, uid, namespace: 'n', ownerReferences: owners, ...metadata },
  }) as unknown as KubeObject
const deleting = (finalizer: string): object => ({ deletionTimestamp: 't', finalizers: [finalizer] })

describe('ObjectGraph', () => {
  test('an object whose owner was not seen is looked at, one whose owner is there is not', () => {
    const graph = new ObjectGraph()
    expect(graph.set(object('b', [link('a')])).look).toEqual(['b'])
    expect(graph.node('a')).toMatchObject({ virtual: true })
    expect(graph.hasSolidOwners('b')).toBe(false)
    expect(graph.set(object('a')).look).toEqual([])
    expect(graph.hasSolidOwners('b')).toBe(true)
    expect(graph.set(object('c', [link('a')])).look).toEqual([])
  })

  test('the dependents of an object that is gone are looked at', () => {
    const graph = new ObjectGraph()
    graph.set(object('a'))
    graph.set(object('b', [link('a')]))
    expect(graph.delete('a').look).toEqual(['b'])
    expect(graph.hasSolidOwners('b')).toBe(false)
    // It was only seen through another version of its kind.
    graph.set(object('a'))
    expect(graph.dependents('a').map(({ uid }) => uid)).toEqual(['b'])
    expect(graph.delete('a').look).toEqual(['b'])
    graph.delete('b')
    expect(graph.size).toBe(0)
  })

  test('a foreground deletion looks at the dependents, and at the object when one of them no longer blocks', () => {
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
    // Whoever comes late is part of it.
    expect(graph.set(object('d', [link('a')])).look).toEqual(['d'])
  })

  test('an object that lets its dependents go says so', () => {
    const graph = new ObjectGraph()
    expect(graph.set(object('a', [], deleting('orphan'))).orphan).toEqual(['a'])
  })

  test.each([
    ['another name', link('a', { name: 'x' }), 'n', 0],
    ['another kind', link('a', { kind: 'Secret' }), 'n', 0],
    ['another group', link('a', { apiVersion: 'example.com/v1' }), 'n', 0],
    ['another namespace', link('a'), 'm', 1],
  ])('a reference with %s is looked at, whoever is seen first', (_, owner, namespace, misplaced) => {
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
  })

  test('another version of the group, or an owner outside of namespaces, is fine', () => {
    const graph = new ObjectGraph()
    graph.set(object('a', [], { namespace: undefined }))
    expect(graph.set(object('b', [link('a', { apiVersion: 'v2' })])).look).toEqual([])
  })
})

describe('AbsentOwners', () => {
  const place = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }

  test('knows an owner by where it was looked for', () => {
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

  test('forgets the oldest when there are many', () => {
    const absent = new AbsentOwners()
    for (let at = 0; at < 501; at++) absent.add(place, String(at))
    expect([absent.has({ ...place, uid: '0' }, 'n'), absent.has({ ...place, uid: '1' }, 'n')]).toEqual([false, true])
  })
})
