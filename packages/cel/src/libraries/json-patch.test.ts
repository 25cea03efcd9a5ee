import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelJSONPatch, jsonPatchLibrary } from './json-patch.ts'

const env = CelEnvironment.create({ libraries: [jsonPatchLibrary] })

test.each([
  "jsonpatch.escapeKey('a/b~c') == 'a~1b~0c'",
  "JSONPatch{op: 'add', path: '/a', value: 1} == JSONPatch{op: 'add', path: '/a', value: 1.0}",
  "JSONPatch{op: 'add', path: '/a', value: 1} != JSONPatch{op: 'add', path: '/a'}",
  "JSONPatch{op: 'remove', path: '/a'}.path == '/a'",
])('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test('JSONPatch keeps the given fields and leaves the others empty', () => {
  const patch = env.compile("JSONPatch{op: 'move', from: '/a', path: '/' + jsonpatch.escapeKey('b/c')}").evaluate({})
  expect(patch).toBeInstanceOf(CelJSONPatch)
  expect(patch).toMatchObject({ op: 'move', from: '/a', path: '/b~1c', value: undefined })
})
