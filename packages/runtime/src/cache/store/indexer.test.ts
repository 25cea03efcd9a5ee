import { type KubeObject, keyOf, parseSelector } from '@kubewright/api'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encoded, objectOf } from '../testdata/fake-source.ts'
import { Indexer } from './indexer.ts'

const named = (objects: readonly KubeObject[]): string[] => objects.map(keyOf)

describe('Indexer', () => {
  test('lists objects ordered by key, as the API server does', () => {
    const store = new Indexer<KubeObject>()
    store.set(objectOf('b', 1, { namespace: 'x' }))
    store.set(objectOf('a', 2, { namespace: 'x-y' }))
    store.set(objectOf('a', 3, { namespace: 'x' }))
    expect(store.keys()).toEqual(['x-y/a', 'x/a', 'x/b'])
    expect(named(store.list({ namespace: 'x' }))).toEqual(['x/a', 'x/b'])
  })

  test('freezes objects deeply', () => {
    const store = new Indexer<KubeObject>()
    store.set(objectOf('a', 1, { labels: { app: 'x' } }))
    store.replace([objectOf('b', 2, { labels: { app: 'x' } })], '2')
    expect(Object.isFrozen(store.get('b')?.metadata.labels)).toBe(true)
    expect(() => Object.assign(store.get('b')?.metadata ?? {}, { name: 'c' })).toThrow(TypeError)
  })

  test('addIndexer() indexes existing objects, and rejects a duplicate name', () => {
    const store = new Indexer<KubeObject>()
    store.set(objectOf('a', 1))
    store.addIndexer('first', (object) => [object.metadata.name.slice(0, 1)])
    store.set(objectOf('ab', 2))
    store.set(objectOf('b', 2))
    expect(named(store.byIndex('first', 'a'))).toEqual(['a', 'ab'])
    expect(store.indexValues('first')).toEqual(['a', 'b'])
    store.delete('b')
    expect(store.indexValues('first')).toEqual(['a'])
    expect(() => store.addIndexer('first', () => [])).toThrow('Cannot add index "first": it exists already')
    expect(() => store.byIndex('last', 'a')).toThrow(
      'Index "last" does not exist: add it with addIndexer. Existing indexes: "first"',
    )
  })

  test('list() combines namespace, index and selector', () => {
    const store = new Indexer<KubeObject>({ initial: (object) => [object.metadata.name.slice(0, 1)] })
    store.set(objectOf('a1', 1, { namespace: 'x', labels: { app: 'w' } }))
    store.set(objectOf('a2', 2, { namespace: 'y', labels: { app: 'w' } }))
    store.set(objectOf('a3', 3, { namespace: 'x', labels: { app: 'v' } }))
    store.set(objectOf('b1', 4, { namespace: 'x', labels: { app: 'w' } }))
    const query = { namespace: 'x', index: { name: 'initial', value: 'a' }, selector: parseSelector('app=w') }
    expect(named(store.list(query))).toEqual(['x/a1'])
  })

  test('list() returns what a scan would return, for any history and selector', () => {
    const step = fc.record({
      do: fc.constantFrom('set' as const, 'delete' as const, 'replace' as const, 'query' as const),
      name: fc.constantFrom('a', 'b', 'c', 'd'),
      namespace: fc.constantFrom('x', 'x-y'),
      labels: fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('1', '2', '3')),
      asBytes: fc.boolean(),
    })
    const selectors = ['', 'app=1', 'app in (1,2)', 'app!=1', 'tier', '!tier', 'app=1,tier=2', 'app in (2,3),tier!=1']
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 40 }),
        fc.constantFrom(...selectors),
        fc.nat(6),
        (steps, text, hotObjects) => {
          const selector = parseSelector(text)
          const label = ({ metadata }: KubeObject): string[] => Object.values(metadata.labels ?? {})
          const store = new Indexer<KubeObject>({ label }, { hotObjects })
          const model = new Map<string, KubeObject>()
          for (const { do: action, name, namespace, labels, asBytes } of steps) {
            const object = objectOf(name, 1, { namespace, labels })
            const item = asBytes ? encoded(object) : object
            if (action === 'set') {
              expect(store.set(item)).toEqual(model.get(keyOf(object)))
              model.set(keyOf(object), object)
            } else if (action === 'delete') {
              expect(store.delete(keyOf(object))).toEqual(model.get(keyOf(object)))
              model.delete(keyOf(object))
            } else if (action === 'replace') {
              model.clear()
              model.set(keyOf(object), object)
              store.replace([item], '1')
            }
            const all = [...model.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
            expect(store.size).toBe(model.size)
            expect(store.list({ selector })).toEqual(all.filter((each) => selector.matches(each.metadata.labels)))
            expect(store.list({ namespace })).toEqual(all.filter((each) => each.metadata.namespace === namespace))
            const indexed = all.filter((each) => Object.values(each.metadata.labels ?? {}).includes('2'))
            expect(store.byIndex('label', '2')).toEqual(indexed)
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  test('stores encoded objects as bytes and evaluates selectors without parsing objects that do not match', () => {
    const store = new Indexer<KubeObject>()
    const items = ['a', 'b', 'c'].map((name, i) => encoded(objectOf(name, i + 1, { labels: { app: name } })))
    store.replace(items, '3')
    expect(store.stats).toEqual({ objects: 3, bytes: 2 * 1024, parsed: 0 })
    expect(named(store.list({ selector: parseSelector('app=b') }))).toEqual(['b'])
    expect(named(store.list({ selector: parseSelector('app notin (b, c)') }))).toEqual(['a'])
    expect(items.map((item) => item.decodes)).toEqual([1, 1, 0])
    expect(store.get('b')).toBe(store.get('b'))
    expect(() => Object.assign(store.get('b')?.metadata.labels ?? {}, { app: 'x' })).toThrow(TypeError)
    expect(store.stats.parsed).toBe(2)
  })
})
