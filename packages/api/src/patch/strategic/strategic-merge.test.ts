import type { JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../own-property.ts'
import { PatchError } from '../patch-error.ts'
import { requireKeyUnchanged, requireMetadataKeyUnchanged } from '../preconditions.ts'
import { createThreeWayStrategicMergePatch, createTwoWayStrategicMergePatch } from './create-strategic-merge-patch.ts'
import { applyStrategicMergePatch, decodeStrategicMergePatch, printedStrategicPatch } from './strategic-merge.ts'

const text: JSONSchemaProps = { type: 'string' }
const schema: JSONSchemaProps = {
  type: 'object',
  properties: {
    metadata: {
      type: 'object',
      properties: {
        name: text,
        labels: { type: 'object', additionalProperties: text },
        finalizers: { type: 'array', items: text, 'x-kubernetes-patch-strategy': 'merge' },
      },
    },
    spec: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        strategy: {
          type: 'object',
          properties: { type: text, rollingUpdate: { type: 'object', properties: { maxSurge: text } } },
          'x-kubernetes-patch-strategy': 'retainKeys',
        },
        args: { type: 'array', items: text },
        selector: { type: 'object', properties: { a: text }, 'x-kubernetes-patch-strategy': 'replace' },
        containers: {
          type: 'array',
          'x-kubernetes-patch-strategy': 'merge',
          'x-kubernetes-patch-merge-key': 'name',
          items: {
            type: 'object',
            properties: {
              name: text,
              image: text,
              env: {
                type: 'array',
                'x-kubernetes-patch-strategy': 'merge',
                'x-kubernetes-patch-merge-key': 'name',
                items: { type: 'object', properties: { name: text, value: text } },
              },
            },
          },
        },
      },
    },
  },
}

const live = {
  metadata: { name: 'd', finalizers: ['a', 'b'] },
  spec: {
    replicas: 1,
    args: ['x', 'y'],
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '1' } },
    containers: [
      { name: 'one', image: 'i1', env: [{ name: 'E', value: '1' }] },
      { name: 'two', image: 'i2' },
    ],
  },
}

const apply = (patch: JsonObject, document: object = live): unknown => applyStrategicMergePatch(document, patch, schema)
const spec = (patch: JsonObject): unknown => (apply({ spec: patch }) as typeof live).spec

describe('applyStrategicMergePatch()', () => {
  test('matches field names case-insensitively, as Go does', () => {
    expect(spec({ Containers: [{ name: 'new' }] })).toEqual({ ...live.spec, Containers: [{ name: 'new' }] })
    expect(() => spec({ '$setElementOrder/CONTAINERS': [], '$setElementOrder/nope': [] })).toThrow('json field "nope"')
  })

  test('merges list items by key without modifying its arguments', () => {
    const before = structuredClone(live)
    expect(spec({ containers: [{ name: 'two', image: 'new' }, { name: 'three' }] })).toEqual({
      ...live.spec,
      containers: [live.spec.containers[0], { name: 'two', image: 'new' }, { name: 'three' }],
    })
    expect(live).toEqual(before)
  })

  test('replaces lists without a strategy and objects with the strategy replace', () => {
    expect(spec({ args: ['z'] })).toMatchObject({ args: ['z'] })
    expect(apply({ spec: { selector: { b: 2 } } }, { spec: { selector: { a: 1 } } })).toEqual({
      spec: { selector: { b: 2 } },
    })
  })

  test('removes fields with null and drops nulls in new objects', () => {
    expect(apply({ spec: { replicas: null, strategy: null } })).not.toHaveProperty('spec.replicas')
    expect(apply({ a: { b: null, c: 1 } }, {})).toEqual({ a: { c: 1 } })
  })

  test('applies $patch: delete and $patch: replace of list items', () => {
    expect(spec({ containers: [{ name: 'one', $patch: 'delete' }] })).toMatchObject({ containers: [{ name: 'two' }] })
    expect(spec({ containers: [{ $patch: 'replace' }, { name: 'x' }] })).toMatchObject({ containers: [{ name: 'x' }] })
  })

  test('applies $patch: replace and $patch: delete of objects', () => {
    expect(spec({ strategy: { $patch: 'replace', type: 'Recreate' } })).toMatchObject({
      strategy: { type: 'Recreate' },
    })
    expect(spec({ strategy: { $patch: 'delete' } })).toMatchObject({ strategy: {} })
  })

  test('applies $retainKeys', () => {
    expect(spec({ strategy: { $retainKeys: ['type'], type: 'Recreate' } })).toMatchObject({
      strategy: { type: 'Recreate' },
    })
    expect(
      (spec({ strategy: { $retainKeys: ['type'], type: 'Recreate' } }) as typeof live.spec).strategy,
    ).not.toHaveProperty('rollingUpdate')
  })

  test('merges lists of scalars and removes items with $deleteFromPrimitiveList', () => {
    expect(apply({ metadata: { finalizers: ['c', 'a'] } })).toMatchObject({ metadata: { finalizers: ['c', 'a', 'b'] } })
    expect(apply({ metadata: { '$deleteFromPrimitiveList/finalizers': ['a'] } })).toMatchObject({
      metadata: { finalizers: ['b'] },
    })
  })

  test('orders items by $setElementOrder', () => {
    const patch = { '$setElementOrder/containers': [{ name: 'two' }, { name: 'one' }] }
    expect(spec(patch)).toMatchObject({ containers: [{ name: 'two' }, { name: 'one' }] })
  })

  test('puts added items at the positions of deleted ones before ordering', () => {
    const document = { spec: { containers: [{ name: '1' }, { name: '2' }, { name: '4' }] } }
    const patch = {
      '$setElementOrder/containers': [{ name: '2' }, { name: '3' }],
      containers: [{ name: '3' }, { name: '1', $patch: 'delete' }],
    }
    expect(apply({ spec: patch }, document)).toEqual({
      spec: { containers: [{ name: '2' }, { name: '4' }, { name: '3' }] },
    })
  })

  test.each<[JsonObject, string, PatchError['kind']?]>([
    [{ containers: [{ image: 'x' }] }, 'map: map[image:x] does not contain declared merge key: name'],
    [
      { containers: ['str'] },
      'list element types are not identical: [[map[env:[map[name:E value:1]] image:i1 name:one] map[image:i2 name:two]] [str]]',
    ],
    [{ containers: [{ name: 'a', $patch: 'merge' }] }, 'merging lists cannot yet be specified in the patch'],
    [{ containers: [{ name: 'a', $patch: 'x' }] }, 'unknown patch type: x in map: map[$patch:x name:a]'],
    [{ $patch: 'x' }, 'unknown patch type: x in map: map[$patch:x]'],
    [
      { $patch: { n: 0, a: [true, null, 's'] } },
      'unknown patch type: map[a:[%!s(bool=true) <nil> s] n:%!s(int64=0)] in map: map[$patch:map[a:[true <nil> s] n:0]]',
    ],
    [{ strategy: { $retainKeys: ['type'], rollingUpdate: {} } }, 'invalid patch format of retainKeys', 'BadRequest'],
    [{ strategy: { $retainKeys: 'type' } }, 'invalid patch format of retainKeys', 'BadRequest'],
    [{ $deleteFromPrimitiveList: ['a'] }, 'invalid patch format of primitive list', 'BadRequest'],
    [{ $setElementOrder: [] }, 'invalid patch format of setElementOrder list', 'BadRequest'],
    [
      { '$setElementOrder/containers': [{ name: 'one' }], containers: [{ name: 'two' }] },
      "The order in patch list:\n[map[name:two]]\n doesn't match $setElementOrder list:\n[map[name:one]]\n",
    ],
    [{ '$setElementOrder/containers': 1 }, 'expected a []interface {}, but received a int64'],
  ])('rejects %j', (patch, message, kind = 'Internal') => {
    expect(() => spec(patch)).toThrow(new PatchError(message, kind))
  })

  test('rejects merging into a field that is not a struct', () => {
    const document = { metadata: { labels: { a: { b: 1 } } } }
    expect(() => apply({ metadata: { labels: { a: { c: 1 } } } }, document)).toThrow(
      'merging an object in json but data type is not struct, instead is: map',
    )
  })
})

describe('decodeStrategicMergePatch()', () => {
  test('rejects a list and treats null as the empty patch', () => {
    expect(() => decodeStrategicMergePatch([])).toThrow(
      'json: cannot unmarshal array into Go value of type map[string]interface {}',
    )
    expect(decodeStrategicMergePatch(null)).toEqual({})
  })
})

describe('createTwoWayStrategicMergePatch()', () => {
  test('expresses changes with strategic merge directives', () => {
    const after = structuredClone(live)
    after.metadata.finalizers = ['b', 'c']
    after.spec.strategy = { type: 'Recreate' } as typeof after.spec.strategy
    after.spec.containers = [
      { name: 'two', image: 'new' },
      { name: 'three', image: 'x' },
    ]
    expect(createTwoWayStrategicMergePatch(live, after, schema)).toEqual({
      metadata: {
        finalizers: ['c'],
        '$deleteFromPrimitiveList/finalizers': ['a'],
        '$setElementOrder/finalizers': ['b', 'c'],
      },
      spec: {
        strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null },
        containers: [
          { name: 'two', image: 'new' },
          { name: 'three', image: 'x' },
          { name: 'one', $patch: 'delete' },
        ],
        '$setElementOrder/containers': [{ name: 'two' }, { name: 'three' }],
      },
    })
  })

  test('checks preconditions', () => {
    const renamed = { ...live, kind: 'X', metadata: { ...live.metadata, name: 'e' } }
    expect(() => createTwoWayStrategicMergePatch(live, renamed, schema, [requireKeyUnchanged('kind')])).toThrow(
      'precondition failed for: map[kind:X metadata:map[name:e]]',
    )
    expect(() => createTwoWayStrategicMergePatch(live, renamed, schema, [requireMetadataKeyUnchanged('name')])).toThrow(
      'precondition failed',
    )
    expect(createTwoWayStrategicMergePatch(live, live, schema, [requireKeyUnchanged('kind')])).toEqual({})
  })

  const value = fc.constantFrom('1', '2')
  const named = <T>(item: (name: string) => fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
    fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 4 }).chain((names) => fc.tuple(...names.map(item)))
  const deployment = fc.record({
    metadata: fc.record({
      name: fc.constant('d'),
      labels: fc.dictionary(fc.constantFrom('x', 'y', 'z'), value, { maxKeys: 3 }),
      finalizers: fc.uniqueArray(fc.constantFrom('f', 'g', 'h')),
    }),
    spec: fc.record(
      {
        replicas: fc.nat(2),
        strategy: fc.record({ type: value, rollingUpdate: fc.record({ maxSurge: value }) }, { requiredKeys: [] }),
        args: fc.array(value, { maxLength: 3 }),
        containers: named((name) =>
          fc.record({
            name: fc.constant(name),
            image: value,
            env: named((env) => fc.record({ name: fc.constant(env), value })),
          }),
        ),
      },
      { requiredKeys: ['containers'] },
    ),
  })

  test('creates patches that turn one object into the other', () => {
    fc.assert(
      fc.property(deployment, deployment, (before, after) => {
        const patch = createTwoWayStrategicMergePatch(before, after, schema)
        expect(applyStrategicMergePatch(before, patch, schema)).toEqual(after)
      }),
      { numRuns: 300 },
    )
  })

  test('creates an empty patch for equal objects', () => {
    fc.assert(
      fc.property(deployment, (object) => {
        expect(createTwoWayStrategicMergePatch(object, structuredClone(object), schema)).toEqual({})
      }),
    )
  })
})

describe('createThreeWayStrategicMergePatch()', () => {
  const original = { spec: { replicas: 1, containers: [{ name: 'one' }, { name: 'gone' }] } }
  const modified = { spec: { replicas: 2, containers: [{ name: 'one', image: 'new' }] } }
  const current = {
    spec: { replicas: 1, args: ['x'], containers: [{ name: 'one' }, { name: 'gone' }, { name: 'sidecar' }] },
  }

  test('removes fields applied before and keeps fields of other writers', () => {
    const patch = createThreeWayStrategicMergePatch(original, modified, current, schema)
    expect(applyStrategicMergePatch(current, patch, schema)).toEqual({
      spec: { replicas: 2, args: ['x'], containers: [{ name: 'one', image: 'new' }, { name: 'sidecar' }] },
    })
  })

  test('rejects conflicting changes of other writers with overwrite: false', () => {
    const theirs = { spec: { ...current.spec, replicas: 7 } }
    expect(() => createThreeWayStrategicMergePatch(original, modified, theirs, schema, { overwrite: false })).toThrow(
      'conflicts with changes made from original to current',
    )
    const replicas = (n: number): JsonObject => ({ spec: { replicas: n } })
    expect(() =>
      createThreeWayStrategicMergePatch(replicas(1), replicas(2), replicas(7), schema, { overwrite: false }),
    ).toThrow(
      new PatchError(
        'patch:\nspec:\n  replicas: 2\n\nconflicts with changes made from original to current:\nspec:\n  replicas: 7\n\n',
      ),
    )
    expect(createThreeWayStrategicMergePatch(original, modified, theirs, schema)).toMatchObject({
      spec: { replicas: 2 },
    })
    expect(() =>
      createThreeWayStrategicMergePatch(original, modified, current, schema, { overwrite: false }),
    ).not.toThrow()
  })
})

describe('applyStrategicMergePatch() with long lists', () => {
  /** The number of reads of properties that merging two lists of `count` items takes. */
  function readsFor(count: number, more: JsonObject): number {
    let reads = 0
    const counted = (item: JsonObject): JsonObject =>
      new Proxy(item, {
        get: (target, key) => {
          reads++
          return Reflect.get(target, key)
        },
      })
    const containers = (image: string, extra: JsonObject): JsonObject[] =>
      Array.from({ length: count }, (_, i) => counted({ name: `c${i}`, image, ...extra }))
    const live = { spec: { containers: containers('a', {}) } }
    applyStrategicMergePatch(live, { spec: { containers: containers('b', more) } }, schema)
    return reads
  }

  test.each([{}, { $patch: 'delete' }])('takes work proportional to their length: %o', (more) => {
    expect(readsFor(400, more)).toBeLessThan(3 * readsFor(200, more))
  })

  test('refuses items whose merge key is null', () => {
    const patch = {
      spec: {
        containers: [
          { name: null, image: 'a' },
          { name: null, image: 'b' },
        ],
      },
    }
    const live = { spec: { containers: [{ name: 'one' }] } }
    const text = 'map: map[image:b] does not contain declared merge key: name'
    expect(() => applyStrategicMergePatch(live, patch, schema)).toThrow(new PatchError(text))
  })
})

test('printedStrategicPatch() lacks the directives of values that replace values of another type', () => {
  const patch = {
    a: { $retainKeys: { $patch: 'replace' }, b: [{ $patch: 'x' }, 1] },
    c: [{ $patch: 'x' }, { d: { $patch: 'y' } }],
  }
  expect(printedStrategicPatch({ a: 1, c: 1 }, patch)).toEqual({ a: { b: [1] }, c: [{ $patch: 'x' }, {}] })
})
