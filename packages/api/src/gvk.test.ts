import { describe, expect, test } from 'vitest'
import * as api from './index.ts'

describe('parseGroupVersion()', () => {
  test.each([
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
    ['', { group: '', version: '' }],
    ['/', { group: '', version: '' }],
    ['apps/', { group: 'apps', version: '' }],
  ])('reads %j', (text, expected) => {
    expect(api.parseGroupVersion(text)).toEqual(expected)
  })

  test('rejects two slashes', () => {
    expect(() => api.parseGroupVersion('a/b/c')).toThrow('unexpected GroupVersion string: a/b/c')
  })
})

test('format functions print kinds and resources as Go does', () => {
  expect(api.formatGroupVersionKind({ group: 'apps', version: 'v1', kind: 'Deployment' })).toBe(
    'apps/v1, Kind=Deployment',
  )
  expect(api.formatGroupVersionResource({ group: '', version: 'v1', resource: 'pods' })).toBe('/v1, Resource=pods')
  expect(api.parseResourceArg('pods.v1.example.com')).toEqual({
    full: { group: 'example.com', version: 'v1', resource: 'pods' },
    short: { group: 'v1.example.com', resource: 'pods' },
  })
  expect(api.parseKindArg('Pod.core')).toEqual({ short: { group: 'core', kind: 'Pod' } })
  expect(api.gvkOf({ apiVersion: 'a/b/c', kind: 'X' })).toEqual({ group: '', version: '', kind: 'X' })
})

test.each([
  ['Pod', 'pods'],
  ['Ingress', 'ingresses'],
  ['Policy', 'policies'],
  ['Endpoints', 'endpoints'],
  ['', ''],
])('guessPlural(%j) is %j', (kind, plural) => {
  expect(api.guessPlural(kind)).toBe(plural)
})
