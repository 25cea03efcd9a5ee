import type { KubeObject } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { Home, objectOf } from '../testdata/test-parts.ts'
import { type Predicate, passesAdd, passesUpdate } from './predicate.ts'
import {
  and,
  annotationsChanged,
  changed,
  generationChanged,
  labelSelector,
  labelsChanged,
  not,
  or,
  resourceVersionChanged,
  when,
} from './predicates.ts'

const base = objectOf(Home, 'a', 1, { spec: { replicas: 1, data: { x: 1 } } })
const withMeta = (metadata: object, version = 2): KubeObject => ({
  ...base,
  metadata: { ...base.metadata, resourceVersion: String(version), ...metadata },
})
const nothing: Predicate = { add: () => false, update: () => false }

test.each<[string, Predicate, KubeObject, boolean]>([
  ['generationChanged', generationChanged, withMeta({ generation: 2 }), true],
  ['generationChanged', generationChanged, withMeta({ labels: { a: 'b' } }), false],
  ['resourceVersionChanged', resourceVersionChanged, withMeta({}), true],
  ['resourceVersionChanged', resourceVersionChanged, base, false],
  ['labelsChanged', labelsChanged, withMeta({ labels: { a: 'b' } }), true],
  ['labelsChanged', labelsChanged, withMeta({ labels: {} }), false],
  ['annotationsChanged', annotationsChanged, withMeta({ annotations: { a: 'b' } }), true],
  ['annotationsChanged', annotationsChanged, withMeta({ generation: 2 }), false],
  ["changed('spec')", changed('spec'), { ...withMeta({}), spec: { replicas: 2, data: { x: 1 } } } as KubeObject, true],
  [
    "changed('spec.data')",
    changed('spec.data'),
    { ...withMeta({}), spec: { replicas: 2, data: { x: 1 } } } as KubeObject,
    false,
  ],
  [
    "changed('status', 'spec.replicas')",
    changed('status', '.spec.replicas'),
    { ...withMeta({}), spec: { replicas: 2 } } as KubeObject,
    true,
  ],
  ["labelSelector('a=b')", labelSelector('a=b'), withMeta({ labels: { a: 'b' } }), true],
  ["labelSelector('a=b')", labelSelector({ matchLabels: { a: 'b' } }), withMeta({ labels: { a: 'c' } }), false],
])('%s evaluates updates (%#)', (_name, predicate, after, passes) => {
  expect(passesUpdate([predicate], base, after)).toBe(passes)
  expect(passesUpdate([not(predicate)], base, after)).toBe(!passes)
})

test('generationChanged and similar predicates accept every add', () => {
  for (const predicate of [
    generationChanged,
    labelsChanged,
    annotationsChanged,
    resourceVersionChanged,
    changed('spec'),
  ]) {
    expect(passesAdd([predicate], base)).toBe(true)
  }
})

test('when() and labelSelector() accept the update of an object that no longer matches', () => {
  const before = withMeta({ labels: { a: 'b' } })
  const after = withMeta({ labels: {} }, 3)
  expect(passesUpdate([labelSelector('a=b')], before, after)).toBe(true)
  expect(passesUpdate([when(({ metadata }) => metadata.labels?.['a'] === 'b')], before, after)).toBe(true)
  expect(passesUpdate([labelSelector('a=b')], after, withMeta({ labels: {} }, 4))).toBe(false)
  expect([passesAdd([labelSelector('a=b')], before), passesAdd([labelSelector('a=b')], after)]).toEqual([true, false])
})

test('and(), or() and a list of predicates combine their results', () => {
  const yes: Predicate = { add: () => true, update: () => true }
  const after = withMeta({})
  expect(passesUpdate([and(yes, nothing)], base, after)).toBe(false)
  expect(passesUpdate([and(yes, yes)], base, after)).toBe(true)
  expect(passesUpdate([or(yes, nothing)], base, after)).toBe(true)
  expect(passesUpdate([or(nothing, nothing)], base, after)).toBe(false)
  expect(passesUpdate([yes, nothing], base, after)).toBe(false)
  expect([passesAdd([and(yes, nothing)], base), passesAdd([or(yes, nothing)], base)]).toEqual([false, true])
  expect(passesAdd([not({})], base), 'a missing function accepts everything, so not() accepts nothing').toBe(false)
})

describe('predicates never suppress a deletion:', () => {
  const going = withMeta({ deletionTimestamp: '2025-01-01T00:00:00Z', generation: 2 })
  test.each<[string, Predicate]>([
    ['one that accepts nothing', nothing],
    ['not() of one that accepts everything', not({})],
    ['and()', and(nothing, nothing)],
    ['or()', or(nothing)],
    ['a selector that does not match', labelSelector('a=b')],
  ])('%s', (_name, predicate) => {
    expect(passesUpdate([predicate], base, going), 'its deletion starts').toBe(true)
    expect(passesAdd([predicate], going), 'first seen while being deleted').toBe(true)
    expect(passesUpdate([predicate], base, withMeta({ uid: 'other' })), 'another object with the same name').toBe(true)
    expect(passesUpdate([predicate], going, withMeta({ deletionTimestamp: '2025-01-01T00:00:00Z' }, 3))).toBe(false)
  })

  test('a predicate on the spec does not keep objects with a finalizer terminating forever', () => {
    const spec = { sourceNamespace: 'default', destinationNamespaces: ['a1', 'a2'], secretName: 'secret-a' }
    const secSynch = {
      ...objectOf(Home, 'sync', 1, { metadata: { finalizers: ['tutorial.study.dev/finalizer'] } }),
      spec,
    }
    // The event of kube-apiserver after a delete: the same spec, a deletionTimestamp and the next generation.
    const deleted = {
      ...secSynch,
      metadata: {
        ...secSynch.metadata,
        resourceVersion: '2',
        generation: 2,
        deletionTimestamp: '2025-01-01T00:00:00Z',
      },
    }
    const specOnly = changed<typeof secSynch>('spec')
    expect(specOnly.update?.(secSynch, deleted), 'the predicate itself rejects it').toBe(false)
    expect(passesUpdate([specOnly], secSynch, deleted)).toBe(true)
  })
})
