import { expect, test } from 'vitest'
import * as api from './index.ts'

test('apiErrorCodes lists the code of every error of this package', () => {
  const owner = { apiVersion: 'v1', kind: 'A', name: 'a', uid: 'u' }
  const errors = [
    new api.AlreadyOwnedError({ metadata: { name: 'a' } }, owner),
    api.newBadRequest('x'),
    new api.NotRegisteredError('x'),
    new api.ApiSyntaxError('x'),
    new api.ApplyError('x'),
    new api.PatchError('x'),
    ownerNamespaceError(),
  ]
  expect(errors.map(({ code }) => code).sort()).toEqual(Object.keys(api.apiErrorCodes).sort())
})

function ownerNamespaceError(): { code: string } {
  const owner = { apiVersion: 'v1', kind: 'A', metadata: { name: 'a', namespace: 'n', uid: 'u' } }
  try {
    api.setOwnerReference(owner, { metadata: { name: 'b', namespace: 'm' } })
  } catch (error) {
    return error as { code: string }
  }
  throw new Error('no error was thrown')
}
