import { expect, test } from 'vitest'
import { parsePageRequest } from './page-request.ts'

const resource = { group: '', version: 'v1', plural: 'pods' }
const object = { resource, name: 'x', namespace: 'a' }

test('parsePageRequest() accepts the requests of the page', () => {
  const follow = { type: 'follow', stream: 's', id: 1, topic: { type: 'table', resource } }
  expect(parsePageRequest(follow)).toMatchObject(follow)
  expect(parsePageRequest({ type: 'scale', object, replicas: 3 })).toEqual({ type: 'scale', object, replicas: 3 })
  const remove = { type: 'delete', object, propagation: 'Orphan', uid: 'u' }
  expect(parsePageRequest(remove)).toEqual(remove)
})

test('parsePageRequest() makes an edit a dry run unless it says otherwise', () => {
  const edit = { type: 'edit', object, source: '', yaml: '', mode: 'apply' }
  expect(parsePageRequest(edit)).toMatchObject({ dryRun: true, force: false })
  expect(parsePageRequest({ ...edit, dryRun: false, force: 'yes' })).toMatchObject({ dryRun: false, force: false })
})

test.each([
  null,
  [],
  { type: 'shell', object },
  { type: 'scale', object, replicas: -1 },
  { type: 'delete', object, propagation: 'Background' },
  { type: 'delete', object: { resource, name: '' }, propagation: 'Background', uid: 'u' },
  { type: 'label', object, labels: { a: 1 } },
  { type: 'follow', stream: 's', id: '1', topic: { type: 'kinds' } },
  { type: 'follow', stream: 's', id: 1, topic: { type: 'table', resource: { plural: 'pods' } } },
])('parsePageRequest() refuses %j', (body) => {
  expect(parsePageRequest(body)).toBeUndefined()
})
