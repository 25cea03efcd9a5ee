import { FieldPath, validateFieldManager } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { fieldSetPath } from '../fieldset/path-element.ts'
import type { ManagedFieldsEntry } from '../object-meta.ts'
import { decodeManagedFields, encodeManagedFields, managerIdentifier } from './managed-fields.ts'
import { managerOrUserAgent, prefixFromUserAgent } from './manager-name.ts'
import { parentManagedFields, scaleManagedFields } from './scale-managed-fields.ts'
import { zeroObject } from './zero-object.ts'

const entry = (overrides: Partial<ManagedFieldsEntry>): ManagedFieldsEntry => ({
  manager: 'm',
  operation: 'Update',
  apiVersion: 'v1',
  time: '2026-01-02T03:04:05Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:spec': {} },
  ...overrides,
})

describe('managerIdentifier()', () => {
  test('omits the version only for appliers', () => {
    expect(managerIdentifier({ manager: 'm', operation: 'Apply', apiVersion: 'v1' })).toBe(
      '{"manager":"m","operation":"Apply"}',
    )
    expect(managerIdentifier({ manager: 'm', operation: 'Update', apiVersion: 'v1', subresource: 'status' })).toBe(
      '{"manager":"m","operation":"Update","apiVersion":"v1","subresource":"status"}',
    )
  })
})

describe('decodeManagedFields()', () => {
  test.each([
    [{ operation: 'Patch' }, 'operation must be `Apply` or `Update`'],
    [{ apiVersion: '' }, 'apiVersion must not be empty'],
    [{ fieldsType: '' }, 'missing fieldsType in managed fields entry 0'],
    [{ fieldsType: 'FieldsV2' }, 'invalid fieldsType "FieldsV2" in managed fields entry 0'],
  ])('rejects %j', (overrides, message) => {
    expect(() => decodeManagedFields([entry(overrides as Partial<ManagedFieldsEntry>)])).toThrow(message)
  })
})

describe('encodeManagedFields()', () => {
  test('sorts by operation, time, manager, version and subresource', () => {
    const sorted = [
      entry({ operation: 'Apply', manager: 'z' }),
      entry({ time: '2026-01-02T03:04:01Z', manager: 'y' }),
      entry({ manager: 'a' }),
      entry({ manager: 'b', apiVersion: 'v1' }),
      entry({ manager: 'b', apiVersion: 'v2' }),
      entry({ manager: 'b', apiVersion: 'v2', subresource: 'status' }),
    ]
    expect(encodeManagedFields(decodeManagedFields([...sorted].reverse()))).toEqual(sorted)
  })

  test('returns undefined without managers', () => {
    expect(encodeManagedFields(decodeManagedFields([]))).toBeUndefined()
  })
})

describe('prefixFromUserAgent()', () => {
  test.each([
    ['kubectl/v1.35 (linux)', 'kubectl'],
    ['Go-http-client', 'Go-http-client'],
    ['a\tb\u0000c/x', 'abc'],
    ['é'.repeat(100), 'é'.repeat(64)],
    ['', ''],
  ])('of %j is %j', (userAgent, name) => {
    expect(prefixFromUserAgent(userAgent)).toBe(name)
  })

  test('is not used when the request names a manager', () => {
    expect(managerOrUserAgent('m', 'kubectl/v1')).toBe('m')
    expect(managerOrUserAgent('', 'kubectl/v1')).toBe('kubectl')
  })
})

describe('validateFieldManager()', () => {
  test('limits the length and the characters', () => {
    expect(validateFieldManager('m', FieldPath.of('fieldManager'))).toEqual([])
    expect(validateFieldManager('x'.repeat(129), FieldPath.of('fieldManager')).map(String)).toEqual([
      'fieldManager: Too long: may not be more than 128 bytes',
    ])
    expect(validateFieldManager('é\t', FieldPath.of('fieldManager')).map(String)).toEqual([
      'fieldManager: Invalid value: "é\\t": invalid character U+0009 (at position 2)',
    ])
  })
})

describe('scaleManagedFields()', () => {
  const paths = { 'g/v1': fieldSetPath('spec', 'replicas'), 'g/v0': null }
  const replicas = { 'f:spec': { 'f:replicas': {} } }
  const owner = entry({
    operation: 'Apply',
    apiVersion: 'g/v1',
    fieldsV1: { 'f:spec': { 'f:a': {}, 'f:replicas': {} } },
  })

  test('lists the managers that own the replicas', () => {
    expect(scaleManagedFields([owner, entry({ apiVersion: 'g/v1', manager: 'n' })], paths)).toEqual([
      { ...owner, apiVersion: 'autoscaling/v1', fieldsV1: replicas },
    ])
  })

  test('parentManagedFields() moves the replicas to the manager that set them in the Scale', () => {
    const scaler = entry({ manager: 'scaler', apiVersion: 'autoscaling/v1', subresource: 'scale', fieldsV1: replicas })
    const unscaled = entry({ apiVersion: 'g/v0', manager: 'old' })
    const { time: _, ...timeless } = scaler
    expect(parentManagedFields([owner, unscaled, entry({ apiVersion: 'g/gone' })], [scaler], 'g/v1', paths)).toEqual([
      { ...owner, fieldsV1: { 'f:spec': { 'f:a': {} } } },
      { ...timeless, apiVersion: 'g/v1' },
      unscaled,
    ])
  })
})

describe('zeroObject()', () => {
  test('has only structs and required fields', () => {
    const schema = {
      type: 'object',
      properties: {
        metadata: { default: {}, allOf: [{ type: 'object', properties: { name: { type: 'string' } } }] },
        spec: {
          type: 'object',
          default: {},
          required: ['selector', 'count'],
          properties: {
            selector: { type: 'object' },
            count: { type: 'integer', default: 0 },
            replicas: { type: 'integer' },
          },
        },
      },
    }
    expect(zeroObject('g/v1', 'K', schema)).toEqual({
      apiVersion: 'g/v1',
      kind: 'K',
      metadata: {},
      spec: { selector: null, count: 0 },
    })
  })
})
