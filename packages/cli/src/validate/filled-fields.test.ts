import { describe, expect, test } from 'vitest'
import { filledFields } from './filled-fields.ts'

describe('filledFields()', () => {
  test('lists defaults and normalized values, without metadata of the server', () => {
    const given = { metadata: { name: 'a' }, spec: { list: [{ a: 1 }], cpu: '1000m', 'a/b': null } }
    const stored = {
      metadata: { name: 'a', uid: 'x', namespace: 'default', managedFields: [], labels: { by: 'hook' } },
      spec: { list: [{ a: 1, b: 2 }], cpu: '1', 'a/b': 1 },
      status: { phase: 'Pending' },
    }
    expect(filledFields(given, stored)).toEqual([
      { path: 'spec.list[0].b', value: 2 },
      { path: 'spec.cpu', value: '1', before: '1000m' },
      { path: 'spec["a/b"]', value: 1 },
      { path: 'metadata.labels', value: { by: 'hook' } },
    ])
    expect(filledFields({ a: [1] }, { a: [1, 2] })).toEqual([{ path: 'a', value: [1, 2], before: [1] }])
    expect(filledFields(given, given)).toEqual([])
  })
})
