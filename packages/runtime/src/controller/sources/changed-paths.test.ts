import type { KubeObject } from '@kubewright/api'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Home, objectOf } from '../testdata/test-parts.ts'
import { changedPaths, writersOf } from './changed-paths.ts'

const home = (more: Record<string, unknown>, metadata: Record<string, unknown> = {}): KubeObject =>
  objectOf(Home, 'a', 1, { ...more, metadata })

test.each([
  ['nothing', home({ spec: { a: [1] } }), home({ spec: { a: [1] } }), []],
  ['a field', home({ spec: { replicas: 1 } }), home({ spec: { replicas: 2 } }), ['spec.replicas']],
  ['added and removed', home({ spec: { a: 1 } }), home({ spec: { b: 1 } }), ['spec.a', 'spec.b']],
  [
    'no deeper than three',
    home({ spec: { a: { b: { c: 1 } } } }),
    home({ spec: { a: { b: { c: 2 } } } }),
    ['spec.a.b'],
  ],
  ['a list', home({ spec: { a: [1, 2] } }), home({ spec: { a: [1, 3] } }), ['spec.a']],
  ['a whole part', home({}), home({ status: { ready: 1 } }), ['status']],
  [
    'an annotation',
    home({}, { annotations: { x: '1' } }),
    home({}, { annotations: { x: '2' } }),
    ['metadata.annotations.x'],
  ],
  [
    'a condition, by its type',
    home({ status: { conditions: [{ type: 'Ready', status: 'False' }, { type: 'Other' }] } }),
    home({ status: { conditions: [{ type: 'Ready', status: 'True' }, { type: 'Other' }] } }),
    ['status.conditions[Ready]'],
  ],
  [
    'nothing for fields that every write changes',
    home({}, { resourceVersion: '1', managedFields: [] }),
    home({}, { resourceVersion: '2', managedFields: [{ manager: 'x' }], generation: 2 }),
    ['metadata.generation'],
  ],
])('changedPaths() returns %s', (_name, before, after, paths) => {
  expect(changedPaths(before, after)).toEqual(paths)
})

test('changedPaths() is empty exactly for equal objects, and has at most sixteen paths', () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(json, json, (before, after) => {
      const [a, b] = [home({ spec: before }), home({ spec: after })]
      const paths = changedPaths(a, b)
      expect(paths.length === 0).toBe(JSON.stringify(sorted(before)) === JSON.stringify(sorted(after)))
      expect(paths.length).toBeLessThanOrEqual(16)
      expect(changedPaths(a, a)).toEqual([])
    }),
  )
})

test('writersOf() returns the managers whose entries changed', () => {
  const entry = (manager: string, time: string) => ({ manager, operation: 'Update', time })
  const before = home({}, { managedFields: [entry('kubectl', '1'), entry('operator', '1')] })
  const after = home({}, { managedFields: [entry('kubectl', '1'), entry('operator', '2'), entry('hpa', '2')] })
  expect(writersOf(before, after)).toEqual(['operator', 'hpa'])
  expect(writersOf(home({}), home({}))).toEqual([])
})

test('writersOf() omits a manager that only lost a field to another', () => {
  const entry = (manager: string, time: string, ...fields: string[]) => ({
    manager,
    operation: manager === 'home' ? 'Apply' : 'Update',
    time,
    fieldsV1: { 'f:spec': Object.fromEntries(fields.map((name) => [`f:${name}`, {}])) },
  })
  const before = home({}, { managedFields: [entry('home', '1', 'replicas', 'image')] })
  const after = home({}, { managedFields: [entry('home', '1', 'image'), entry('kubectl-edit', '1', 'replicas')] })
  expect(writersOf(before, after)).toEqual(['kubectl-edit'])
  expect(writersOf(after, before)).toEqual(['home'])
  expect(writersOf(before, home({}, { managedFields: [entry('home', '1', 'image')] }))).toEqual(['home'])
})

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  // JSON does not distinguish 0 and -0.
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, each]) => [name, sorted(each)])
}
