import { expect, test } from 'vitest'
import { collectionPath, objectPath } from './resource-url.ts'

const pods = { group: '', version: 'v1', plural: 'pods' }

test('objectPath() builds paths of objects and subresources', () => {
  expect(objectPath({ resource: pods, namespace: 'a', name: 'x' })).toBe('/api/v1/namespaces/a/pods/x')
  const homes = { group: 'my.domain', version: 'v1', plural: 'homes' }
  expect(objectPath({ resource: homes, name: 'x' }, 'scale')).toBe('/apis/my.domain/v1/homes/x/scale')
  expect(objectPath({ resource: pods, name: 'a:b?c' })).toBe('/api/v1/pods/a%3Ab%3Fc')
})

test.each(['..', '.', '', 'a/b', '%2e%2e'])('objectPath() refuses the name %j, which would leave its place', (name) => {
  expect(() => objectPath({ resource: pods, name })).toThrow('cannot be part of a path')
  expect(() => collectionPath({ ...pods, plural: name })).toThrow('cannot be part of a path')
})
