import { expect, test } from 'vitest'
import { fieldOwners } from './field-owners.ts'

const object = {
  metadata: {
    name: 'web',
    managedFields: [
      {
        manager: 'kubectl',
        operation: 'Apply',
        time: '2026-01-01T00:00:00Z',
        fieldsV1: {
          'f:spec': {
            'f:replicas': {},
            'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {} } },
            'f:finalizers': { 'v:"a/b"': {} },
          },
        },
      },
      { manager: 'scaler', operation: 'Update', subresource: 'scale', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
      { manager: 'old', operation: 'Update', fieldsV1: { 'f:spec': { 'f:gone': {}, 'k:bad': {} } } },
    ],
  },
  spec: {
    replicas: 2,
    ports: [{ port: 443 }, { port: 80, name: 'http' }],
    finalizers: ['x/y', 'a/b'],
  },
}

test('fieldOwners() finds the managers of fields, list items by key and list items by value', () => {
  const { managers, ownersOf } = fieldOwners(object)
  expect(managers[1]).toEqual({ name: 'scaler', operation: 'Update', subresource: 'scale', time: undefined })
  expect(ownersOf(['spec', 'replicas'])).toEqual([0, 1])
  // The protocol is left out, so it has its default.
  expect(ownersOf(['spec', 'ports', 1])).toEqual([0])
  expect(ownersOf(['spec', 'ports', 1, 'name'])).toEqual([0])
  expect(ownersOf(['spec', 'ports', 1, 'port'])).toEqual([])
  expect(ownersOf(['spec', 'ports', 0])).toEqual([])
  expect(ownersOf(['spec', 'finalizers', 1])).toEqual([0])
})

test('fieldOwners() assigns everything below a field without children', () => {
  const atomic = {
    metadata: { managedFields: [{ manager: 'm', fieldsV1: { 'f:data': {} } }] },
    data: { list: [{ a: 1 }] },
  }
  expect(fieldOwners(atomic).ownersOf(['data', 'list', 0, 'a'])).toEqual([0])
})

test('fieldOwners() ignores malformed entries', () => {
  expect(fieldOwners({ metadata: { managedFields: 'x' } }).managers).toEqual([])
  expect(fieldOwners(null).ownersOf(['a'])).toEqual([])
})
