import { expect, test } from 'vitest'
import { goStructs } from './go-structs.ts'
import { goShown, goValueOf } from './go-value.ts'

test('goValueOf() has every field of the Go type in declaration order', () => {
  expect(JSON.stringify(goValueOf('Taint', { key: 'a', effect: 'NoSchedule' }))).toBe(
    '{"Key":"a","Value":"","Effect":"NoSchedule","TimeAdded":null}',
  )
})

test('goValueOf() moves host namespace fields into the security context', () => {
  const value = goValueOf('PodSpec', { securityContext: { runAsUser: 1 }, hostNetwork: true })
  expect(value['SecurityContext']).toMatchObject({ HostNetwork: true, HostPID: false, RunAsUser: 1 })
  expect(value).not.toHaveProperty('HostNetwork')
})

test('goValueOf() inlines metadata and embedded types', () => {
  const value = goValueOf('PodTemplateSpec', {
    metadata: { labels: { b: 'c' } },
    spec: { volumes: [{ name: 'v', emptyDir: {} }] },
  })
  expect(Object.keys(value)).toEqual(['labels', 'Spec'])
  expect(value['Spec']).toMatchObject({
    Volumes: [{ Name: 'v', EmptyDir: { Medium: '', SizeLimit: null }, HostPath: null }],
  })
})

test('goValueOf() supports every type of the table', () => {
  for (const type of Object.keys(goStructs)) expect(() => goValueOf(type, {})).not.toThrow()
})

test('goShown() keeps the order of fields in texts', () => {
  expect(goShown('NodeSelectorTerm', [{}]).text).toBe('[{"MatchExpressions":null,"MatchFields":null}]')
})

test('goValueOf() prints label selectors with labels first and without empty fields', () => {
  const matchExpressions = [{ key: 'k', operator: 'Exists' }]
  const of = (selector: object | undefined) => goValueOf('PersistentVolumeClaimSpec', { selector })['Selector']
  expect(JSON.stringify(of({ matchExpressions, matchLabels: { b: '1', a: '2' } }))).toBe(
    '{"matchLabels":{"a":"2","b":"1"},"matchExpressions":[{"key":"k","operator":"Exists"}]}',
  )
  expect(of({ matchExpressions })).toEqual({ matchExpressions })
  expect(of(undefined)).toBeNull()
})
