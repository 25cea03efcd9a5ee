import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createJsonPatch } from './create-json-patch.ts'
import { applyJsonPatch, decodeJsonPatch, type JsonPatchOperation, unknownJsonPatchFields } from './json-patch.ts'
import { PatchError } from './patch-error.ts'

interface SuiteCase {
  comment?: string
  doc: unknown
  patch: JsonPatchOperation[]
  expected?: unknown
  error?: string
  disabled?: boolean
}

const require = createRequire(import.meta.url)
const suite = ['json-patch-test-suite/spec_tests.json', 'json-patch-test-suite/tests.json'].flatMap(
  (file) => require(file) as SuiteCase[],
)

/** The reason why Kubernetes' JSON patch, and therefore this one, differs from RFC 6902 in a case of the suite. */
function departsFromRfc({ doc, patch }: SuiteCase): string | undefined {
  for (const { op, path, from, value } of patch) {
    if (op !== 'replace' && op !== 'test' && (path === '' || from === ''))
      return 'the document itself cannot be a target'
    if (op === 'replace' && path === '' && (typeof value !== 'object' || value === null)) return 'documents are objects'
    if (typeof doc !== 'object' || doc === null) return 'documents are objects or arrays'
    if (value === undefined && (op === 'add' || op === 'replace' || op === 'test')) return 'a missing value is null'
    if (op === 'test' && value === null) return 'test treats a missing field as null'
    if (op === 'replace') return 'replace adds a missing field'
    if (op === 'copy') return 'copy of a missing field adds null'
    if (/\/-\d|\/0\d|\/-$/.test(path ?? ''))
      return 'negative indexes count from the end, and leading zeros are accepted'
    if (path !== undefined && path !== '' && !path.startsWith('/')) return 'the first step of a path is ignored'
  }
  return undefined
}

describe('applyJsonPatch() on the public test suite', () => {
  const cases = suite.filter(({ disabled }) => !disabled)

  test('gives the expected result wherever Kubernetes follows RFC 6902', () => {
    let agreed = 0
    const surprises: string[] = []
    for (const one of cases) {
      let outcome: unknown
      let failed = false
      try {
        outcome = applyJsonPatch(one.doc, one.patch)
      } catch {
        failed = true
      }
      const right =
        one.error !== undefined ? failed : !failed && (one.expected === undefined || equal(outcome, one.expected))
      if (right) agreed++
      else if (departsFromRfc(one) === undefined) surprises.push(`${one.comment}: ${JSON.stringify(one.patch)}`)
    }
    expect(surprises).toEqual([])
    expect(agreed).toBeGreaterThan(cases.length - 16)
  })
})

function equal(a: unknown, b: unknown): boolean {
  try {
    expect(a).toEqual(b)
    return true
  } catch {
    return false
  }
}

describe('applyJsonPatch()', () => {
  const doc = { data: { k: 'v', 'a/b~': 1 }, list: ['a', 'b', 'c'] }

  test.each<[string, JsonPatchOperation[], unknown]>([
    ['adds', [{ op: 'add', path: '/data/l', value: 2 }], { ...doc, data: { ...doc.data, l: 2 } }],
    ['inserts', [{ op: 'add', path: '/list/1', value: 'x' }], { ...doc, list: ['a', 'x', 'b', 'c'] }],
    ['appends', [{ op: 'add', path: '/list/-', value: 'x' }], { ...doc, list: ['a', 'b', 'c', 'x'] }],
    ['inserts from the end', [{ op: 'add', path: '/list/-1', value: 'x' }], { ...doc, list: ['a', 'b', 'c', 'x'] }],
    ['removes from the end', [{ op: 'remove', path: '/list/-1' }], { ...doc, list: ['a', 'b'] }],
    ['unescapes', [{ op: 'remove', path: '/data/a~1b~0' }], { ...doc, data: { k: 'v' } }],
    ['moves', [{ op: 'move', from: '/data/k', path: '/k' }], { k: 'v', data: { 'a/b~': 1 }, list: doc.list }],
    ['copies', [{ op: 'copy', from: '/list', path: '/data/list' }], { ...doc, data: { ...doc.data, list: doc.list } }],
    [
      'replaces a missing field',
      [{ op: 'replace', path: '/data/x', value: 1 }],
      { ...doc, data: { ...doc.data, x: 1 } },
    ],
    ['tests', [{ op: 'test', path: '/list', value: ['a', 'b', 'c'] }], doc],
    ['treats a missing field as null', [{ op: 'test', path: '/data/none', value: null }], doc],
    ['replaces the document', [{ op: 'replace', path: '', value: { a: 1 } }], { a: 1 }],
  ])('%s', (_, patch, expected) => {
    const before = structuredClone(doc)
    expect(applyJsonPatch<unknown>(doc, patch)).toEqual(expected)
    expect(doc).toEqual(before)
  })

  test.each<[JsonPatchOperation | { op: string }, string]>([
    [
      { op: 'remove', path: '/data/none' },
      "error in remove for path: '/data/none': Unable to remove nonexistent key: none: missing value",
    ],
    [
      { op: 'add', path: '/none/deep', value: 1 },
      'add operation does not apply: doc is missing path: "/none/deep": missing value',
    ],
    [
      { op: 'remove', path: '/list/7' },
      "error in remove for path: '/list/7': Unable to access invalid index: 7: invalid index referenced",
    ],
    [
      { op: 'add', path: '/list/x', value: 1 },
      `error in add for path: '/list/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [
      { op: 'replace', path: '/list/9', value: 1 },
      'replace operation does not apply: doc is missing key: /list/9: missing value',
    ],
    [{ op: 'test', path: '/data/k', value: 'x' }, 'testing value /data/k failed: test failed'],
    [{ op: 'frobnicate', path: '/data' }, 'Unexpected kind: frobnicate'],
    [{ op: 'add' }, 'add operation failed to decode path: missing value'],
    [{ op: 'move', path: '/a' }, 'move operation failed to decode from: operation, missing from field: missing value'],
    [
      { op: 'move', from: '/data/none', path: '/a' },
      "error in move for path: 'none': Unable to remove nonexistent key: none: missing value",
    ],
  ])('rejects %j', (operation, message) => {
    expect(() => applyJsonPatch(doc, [operation as JsonPatchOperation])).toThrow(
      new PatchError(message, 'Unprocessable'),
    )
  })

  test('leaves the document unchanged when an operation fails', () => {
    const patch = [
      { op: 'add', path: '/data/l', value: 1 },
      { op: 'test', path: '/data/k', value: 'no' },
    ]
    expect(() => applyJsonPatch(doc, patch)).toThrow('test failed')
    expect(doc.data).not.toHaveProperty('l')
  })

  test('does not share state between a copy and its source', () => {
    const patch = [
      { op: 'test', path: '/list/0', value: 'a' },
      { op: 'copy', from: '/list', path: '/other' },
      { op: 'add', path: '/other/-', value: 'x' },
      { op: 'remove', path: '/list/0' },
    ]
    expect(applyJsonPatch<unknown>(doc, patch)).toEqual({ ...doc, list: ['b', 'c'], other: ['a', 'b', 'c', 'x'] })
  })

  test('limits the size that copy operations add', () => {
    const patch = [
      { op: 'copy', from: '/list', path: '/a' },
      { op: 'copy', from: '/list', path: '/b' },
    ]
    expect(() => applyJsonPatch(doc, patch, { maxCopyBytes: 20 })).toThrow(
      'Unable to complete the copy, the accumulated size increase of copy is 26, exceeding the limit 20',
    )
  })

  test('sorts the keys of the objects on the path, as Kubernetes does', () => {
    const result = applyJsonPatch({ z: { y: 1, x: 2 }, a: { y: 1, x: 2 } }, [{ op: 'add', path: '/a/b', value: 1 }])
    expect(JSON.stringify(result)).toBe('{"a":{"b":1,"x":2,"y":1},"z":{"y":1,"x":2}}')
  })

  test('never modifies prototypes', () => {
    const result = applyJsonPatch<Record<string, unknown>>({}, [{ op: 'add', path: '/__proto__', value: { x: 1 } }])
    expect(Object.hasOwn(result, '__proto__')).toBe(true)
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
    expect(() => applyJsonPatch({}, [{ op: 'add', path: '/constructor/x', value: 1 }])).toThrow('missing path')
  })
})

describe('decodeJsonPatch()', () => {
  test.each<[unknown, string, PatchError['kind']?]>([
    [{ a: 1 }, 'error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp'],
    [[1, 2], 'error decoding patch: json: cannot unmarshal number into Go value of type handlers.jsonPatchOp'],
    [
      [{ op: true }],
      'error decoding patch: json: cannot unmarshal bool into Go struct field jsonPatchOp.op of type string',
    ],
    [
      Array.from({ length: 10_001 }, () => ({ op: 'test', path: '' })),
      'The allowed maximum operations in a JSON patch is 10000, got 10001',
      'TooLarge',
    ],
  ])('rejects a malformed patch', (patch, message, kind = 'BadRequest') => {
    expect(() => decodeJsonPatch(patch)).toThrow(new PatchError(message, kind))
  })

  test('treats null as no operations', () => {
    expect(decodeJsonPatch(null)).toEqual([])
  })
})

describe('unknownJsonPatchFields()', () => {
  test('lists unknown fields with the index of their operation', () => {
    const patch = [
      { op: 'test', path: '' },
      { op: 'add', path: '/a', value: 1, foo: 2 },
    ] as JsonPatchOperation[]
    expect(unknownJsonPatchFields(patch)).toEqual(['json patch unknown field "[1].foo"'])
  })
})

describe('PatchError.toApiError()', () => {
  test.each<[PatchError['kind'], number, string | undefined, string]>([
    ['BadRequest', 400, 'BadRequest', 'message'],
    ['Unprocessable', 422, 'Invalid', 'the server rejected our request due to an error in our request'],
    ['TooLarge', 413, 'RequestEntityTooLarge', 'Request entity too large: message'],
    ['Internal', 500, undefined, 'message'],
  ])('maps %s to the response of kube-apiserver', (kind, code, reason, message) => {
    const { status } = new PatchError('message', kind).toApiError()
    expect([status.code, status.reason, status.message]).toEqual([code, reason, message])
  })
})

describe('createJsonPatch()', () => {
  test('has operations only for differences', () => {
    const before = { spec: { replicas: 1, list: ['a', 'b', 'c'] }, gone: 1 }
    const after = { spec: { replicas: 2, list: ['a', 'c'] }, 'new/~': true }
    expect(createJsonPatch(before, after)).toEqual([
      { op: 'replace', path: '/spec/replicas', value: 2 },
      { op: 'remove', path: '/spec/list/1' },
      { op: 'remove', path: '/gone' },
      { op: 'add', path: '/new~1~0', value: true },
    ])
  })

  test('rejects scalar documents', () => {
    expect(() => createJsonPatch({ a: 1 }, 'x')).toThrow(TypeError)
  })

  test('creates patches that turn one document into the other', () => {
    const json = fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(applyJsonPatch<unknown>(before, createJsonPatch(before, after))).toEqual(after)
      }),
    )
  })

  test('creates patches that turn one list into another', () => {
    const list = fc.array(fc.oneof(fc.nat(3), fc.record({ name: fc.nat(2) })), { maxLength: 6 })
    fc.assert(
      fc.property(list, list, (before, after) => {
        expect(applyJsonPatch<unknown>(before, createJsonPatch(before, after))).toEqual(after)
      }),
    )
  })
})

test('applyJsonPatch() sorts the keys of values that a test compared', () => {
  const value = { z: [{ b: 1, a: 2 }], y: 1 }
  const document = { tested: value, other: { d: 1, c: 2 } }
  const patched = applyJsonPatch(document, [{ op: 'test', path: '/tested', value }])
  expect(JSON.stringify(patched)).toBe('{"other":{"d":1,"c":2},"tested":{"y":1,"z":[{"a":2,"b":1}]}}')
  expect(Object.keys(value)).toEqual(['z', 'y'])
})
