import { describe, expect, test } from 'vitest'
import { decodeObjectMeta } from './object-meta.ts'

describe('decodeObjectMeta()', () => {
  test('returns the form that the server stores', () => {
    const decoded = decodeObjectMeta({
      name: 'a',
      generateName: '',
      labels: JSON.parse('{"x":"y","__proto__":"z"}'),
      annotations: {},
      generation: 0,
      deletionGracePeriodSeconds: 0,
      creationTimestamp: '2024-05-01T12:00:00.5+02:00',
      finalizers: [],
      managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': {} }, time: null }],
      nosuch: 1,
    })
    expect(decoded.error).toBeUndefined()
    expect(decoded.unknown).toEqual(['nosuch'])
    expect(JSON.parse(JSON.stringify(decoded.meta))).toEqual({
      name: 'a',
      labels: JSON.parse('{"x":"y","__proto__":"z"}'),
      deletionGracePeriodSeconds: 0,
      creationTimestamp: '2024-05-01T10:00:00Z',
      managedFields: [{ manager: 'm', fieldsV1: { 'f:spec': {} } }],
    })
  })

  test.each<[unknown, string]>([
    ['x', 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
    [[], 'json: cannot unmarshal array into Go value of type v1.ObjectMeta'],
    [{ name: 5 }, 'json: cannot unmarshal number into Go struct field ObjectMeta.name of type string'],
    [{ uid: {} }, 'json: cannot unmarshal object into Go struct field ObjectMeta.uid of type types.UID'],
    [{ generation: '1' }, 'json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64'],
    [{ generation: 1.5 }, 'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64'],
    [{ labels: 'x' }, 'json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string'],
    [{ labels: { a: true } }, 'json: cannot unmarshal bool into Go struct field ObjectMeta.labels of type string'],
    [{ finalizers: {} }, 'json: cannot unmarshal object into Go struct field ObjectMeta.finalizers of type []string'],
    [{ finalizers: [1] }, 'json: cannot unmarshal number into Go struct field ObjectMeta.finalizers of type string'],
    [
      { ownerReferences: [1] },
      'json: cannot unmarshal number into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference',
    ],
    [
      { ownerReferences: [{ name: 1 }] },
      'json: cannot unmarshal number into Go struct field OwnerReference.ownerReferences.name of type string',
    ],
    [
      { creationTimestamp: 1 },
      'json: cannot unmarshal number into Go struct field ObjectMeta.creationTimestamp of type string',
    ],
    [{ creationTimestamp: 'x' }, 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'],
    [
      { name: 1, labels: 'x' },
      'json: cannot unmarshal string into Go struct field ObjectMeta.labels of type map[string]string',
    ],
  ])('rejects %j', (value, error) => {
    expect(decodeObjectMeta(value).error).toBe(error)
  })

  test('drops malformed fields with dropMalformed', () => {
    expect(decodeObjectMeta({ name: 1, namespace: 'n', odd: 1 }, true)).toEqual({
      meta: { namespace: 'n' },
      unknown: ['odd'],
      error: undefined,
    })
    expect(decodeObjectMeta([], true).error).toBe('invalid metadata: expected object, got []interface {}')
  })
})
