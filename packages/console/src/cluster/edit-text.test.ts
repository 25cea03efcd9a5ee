import { expect, test } from 'vitest'
import { changedFields, editText, parseEdited } from './edit-text.ts'

const object = {
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: { name: 'x', namespace: 'a', uid: 'u', resourceVersion: '1', managedFields: [], labels: { a: '1' } },
  spec: { size: 1, list: [1, 2], deep: { a: 1, b: 2 } },
  status: { ready: true },
}

test('editText() leaves out the status and the metadata of the server', () => {
  expect(parseEdited(editText(object))).toEqual({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'x', namespace: 'a', labels: { a: '1' } },
    spec: object.spec,
  })
})

test('changedFields() contains only changes and the identity', () => {
  const source = parseEdited(editText(object))
  const edited = { ...source, spec: { size: 1, list: [1, 3], deep: { a: 1, b: 4 }, added: null } }
  expect(changedFields(source, edited)).toEqual({
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'x', namespace: 'a' },
    spec: { list: [1, 3], deep: { b: 4 }, added: null },
  })
})

test('parseEdited() refuses a text that is not an object', () => {
  expect(() => parseEdited('- a')).toThrow('must be one object')
})
