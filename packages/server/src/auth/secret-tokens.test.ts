import { expect, test } from 'vitest'
import { ownerOfSecretToken } from './secret-tokens.ts'
import type { BoundObject, BoundObjects } from './service-account-tokens.ts'

const claims = {
  iss: 'kubernetes/serviceaccount',
  sub: 'system:serviceaccount:n:robot',
  'kubernetes.io/serviceaccount/namespace': 'n',
  'kubernetes.io/serviceaccount/secret.name': 's',
  'kubernetes.io/serviceaccount/service-account.name': 'robot',
  'kubernetes.io/serviceaccount/service-account.uid': 'u',
}
const there = { secrets: { uid: 's', token: 'the token' }, serviceaccounts: { uid: 'u' } }
const find =
  (objects: { readonly [plural: string]: BoundObject | undefined }): BoundObjects =>
  async (plural) =>
    objects[plural]

test('ownerOfSecretToken() returns the service account of the token', async () => {
  expect(await ownerOfSecretToken('the token', claims, find(there))).toEqual({
    name: 'system:serviceaccount:n:robot',
    uid: 'u',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:n'],
  })
})

test.each<[string, object, { readonly [plural: string]: BoundObject | undefined }]>([
  ['sub claim is missing', { sub: undefined }, {}],
  ['secretName claim is missing', { 'kubernetes.io/serviceaccount/secret.name': '' }, {}],
  ['sub claim is invalid', { sub: 'system:serviceaccount:n:other' }, {}],
  ['Token has been invalidated', {}, { secrets: undefined }],
  ['Token has been invalidated', {}, { secrets: { ...there.secrets, deletionTimestamp: 't' } }],
  ["Token does not match server's copy", {}, { secrets: { uid: 's', token: 'another' } }],
  ["Token does not match server's copy", {}, { secrets: { uid: 's' } }],
  ['serviceaccounts "robot" not found', {}, { serviceaccounts: undefined }],
  ['ServiceAccount n/robot has been deleted', {}, { serviceaccounts: { uid: 'u', deletionTimestamp: 't' } }],
  ['ServiceAccount UID (v) does not match claim (u)', {}, { serviceaccounts: { uid: 'v' } }],
])('ownerOfSecretToken() rejects: %s', async (message, more, objects) => {
  const found = find({ ...there, ...objects })
  await expect(ownerOfSecretToken('the token', { ...claims, ...more }, found)).rejects.toThrow(message)
})
