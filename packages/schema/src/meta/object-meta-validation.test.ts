import { describe, expect, test } from 'vitest'
import { FieldPath } from '../field/field-path.ts'
import { validateObjectMeta } from './object-meta-validation.ts'

const path = FieldPath.of('metadata')

describe('validateObjectMeta()', () => {
  test.each<[string, Record<string, unknown>, string[]]>([
    ['accepts a plain name', { name: 'a' }, []],
    ['requires a name', {}, ['metadata.name: Required value: name or generateName is required']],
    ['forbids a namespace', { name: 'a', namespace: 'b' }, ['metadata.namespace: Forbidden: not allowed on this type']],
    [
      'rejects a negative generation',
      { name: 'a', generation: -1 },
      ['metadata.generation: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'limits the size of annotations',
      { name: 'a', annotations: { a: 'x'.repeat(256 * 1024) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      'rejects incomplete owners',
      { name: 'a', ownerReferences: [{}] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      'rejects events as owners',
      { name: 'a', ownerReferences: [{ apiVersion: 'v1', kind: 'Event', name: 'e', uid: 'u' }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      'allows one controller',
      {
        name: 'a',
        ownerReferences: [
          { apiVersion: 'v1', kind: 'A', name: 'x', uid: '1', controller: true },
          { apiVersion: 'v1', kind: 'B', name: 'y', uid: '2', controller: true },
        ],
      },
      [
        'metadata.ownerReferences: Invalid value: [{"apiVersion":"v1","kind":"A","name":"x","uid":"1","controller":true},{"apiVersion":"v1","kind":"B","name":"y","uid":"2","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for A/x and B/y',
      ],
    ],
    [
      'rejects contradicting finalizers',
      { name: 'a', finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      'validates managed fields',
      { name: 'a', managedFields: [{ operation: 'Odd', fieldsType: 'X', manager: 'a\nb' }] },
      [
        'metadata.managedFields[0].operation: Invalid value: "Odd": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "X": must be `FieldsV1`',
        'metadata.managedFields[0].manager: Invalid value: "a\\nb": invalid character U+000A (at position 1)',
      ],
    ],
  ])('%s', (_, meta, expected) => {
    expect(validateObjectMeta(meta, path, { namespaced: false }).map(String)).toEqual(expected)
  })

  test('requires a namespace for namespaced kinds', () => {
    expect(validateObjectMeta({ name: 'a' }, path, { namespaced: true }).map(String)).toEqual([
      'metadata.namespace: Required value',
    ])
  })
})

test('validateObjectMeta() reports several hundred thousand wrong finalizers', () => {
  const finalizers = Array.from({ length: 200_000 }, (_, i) => `${i} !`)
  const errors = validateObjectMeta({ name: 'a', finalizers }, FieldPath.of('metadata'), { namespaced: false })
  expect(errors.length).toBeGreaterThanOrEqual(200_000)
})
