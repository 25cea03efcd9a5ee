import { describe, expect, test } from 'vitest'
import * as api from './index.ts'

describe('owner references', () => {
  const owner = {
    apiVersion: 'ajd.example.com/v1',
    kind: 'Home',
    metadata: { name: 'cosy', namespace: 'a', uid: 'u1' },
  }

  test('setControllerReference() adds one controller and updates it', () => {
    const draft = { metadata: { name: 'web', namespace: 'a' } as api.MetaDraft }
    api.setControllerReference(owner, draft)
    api.setControllerReference({ ...owner, apiVersion: 'ajd.example.com/v2' }, draft)
    expect(draft.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'ajd.example.com/v2',
        kind: 'Home',
        name: 'cosy',
        uid: 'u1',
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    expect(api.isControlledBy(draft, owner)).toBe(true)
    expect(api.removeOwnerReference(owner, draft)).toBe(true)
    expect(api.controllerOf(draft)).toBeUndefined()
  })

  test('setControllerReference() rejects a second controller', () => {
    const draft = { metadata: { name: 'web', namespace: 'a' } as api.MetaDraft }
    api.setControllerReference(owner, draft)
    const other = { ...owner, metadata: { ...owner.metadata, name: 'other', uid: 'u2' } }
    expect(() => api.setControllerReference(other, draft)).toThrow(
      'Object a/web is already owned by another Home controller cosy',
    )
    expect(() => api.setControllerReference(other, draft)).toThrow(api.AlreadyOwnedError)
    api.setOwnerReference(other, draft)
    expect(api.isOwnedBy(draft, other)).toBe(true)
    expect(api.controllerOf(draft)?.uid).toBe('u1')
  })

  test('setControllerReference() rejects an owner in another namespace', () => {
    expect(() => api.setControllerReference(owner, { metadata: { name: 'x', namespace: 'b' } })).toThrow(
      "cross-namespace owner references are disallowed, owner's namespace a, obj's namespace b",
    )
    expect(() => api.setControllerReference(owner, { metadata: { name: 'x' } })).toThrow(
      "cluster-scoped resource must not have a namespace-scoped owner, owner's namespace a",
    )
  })
})
