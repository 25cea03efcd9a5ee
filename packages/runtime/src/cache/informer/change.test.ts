import { type KubeObject, keyOf } from '@kubewright/api'
import { EncodedObject } from '@kubewright/client'
import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { DeltaFifo } from '../reflector/delta-fifo.ts'
import { Indexer } from '../store/indexer.ts'
import { encoded, objectOf } from '../testdata/fake-source.ts'
import { applyDelta, type Change, initialChanges, joinChanges } from './change.ts'

const show = (changes: readonly Change<KubeObject>[]): string[] =>
  changes.map(({ key, before, after, deleted, sync }) => {
    const versions = `${before?.metadata.resourceVersion ?? '-'}>${after?.metadata.resourceVersion ?? '-'}`
    return `${key} ${versions}${deleted?.finalStateUnknown ? ' unknown' : ''}${sync ? ' sync' : ''}`
  })

describe('applyDelta()', () => {
  test('replaces the store as a whole: deletions first, as tombstones, then all other changes', () => {
    const store = new Indexer<KubeObject>()
    store.replace([objectOf('a', 1), objectOf('b', 2), objectOf('c', 3)], '3')
    const objects = [objectOf('d', 5), objectOf('b', 2), objectOf('c', 6)]
    const changes = applyDelta(store, { type: 'Replaced', objects, resourceVersion: '6' }, false)
    expect(show(changes)).toEqual(['a 1>- unknown', 'b 2>2 sync', 'c 3>6', 'd ->5'])
    expect([store.keys(), store.resourceVersion]).toEqual([['b', 'c', 'd'], '6'])
  })

  test('reports the final state of a deletion, and nothing for an unknown object', () => {
    const store = new Indexer<KubeObject>()
    store.set(objectOf('a', 1))
    const [change] = applyDelta(store, { type: 'Deleted', object: objectOf('a', 2) }, false)
    expect(change?.deleted).toEqual({ object: objectOf('a', 2), finalStateUnknown: false })
    expect(applyDelta(store, { type: 'Deleted', object: objectOf('a', 2) }, false)).toEqual([])
  })

  test('treats an addition of a known object as an update, and an update of an unknown one as an addition', () => {
    const store = new Indexer<KubeObject>()
    expect(show(applyDelta(store, { type: 'Updated', object: objectOf('a', 1) }, false))).toEqual(['a ->1'])
    expect(show(applyDelta(store, { type: 'Added', object: objectOf('a', 2) }, false))).toEqual(['a 1>2'])
  })

  test('redelivers all objects on a sync', () => {
    const store = new Indexer<KubeObject>()
    store.replace([objectOf('b', 1), objectOf('a', 2)], '2')
    expect(show(applyDelta(store, { type: 'Sync' }, false))).toEqual(['a 2>2 sync', 'b 1>1 sync'])
  })
})

test('joinChanges() of any history of a key leads to the same end as the single changes', () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 10 }), fc.boolean(), (steps, present) => {
      const store = new Indexer<KubeObject>()
      const start = objectOf('a', 1)
      if (present) store.set(start)
      const changes = steps.flatMap((exists, i) => {
        return applyDelta(store, { type: exists ? 'Updated' : 'Deleted', object: objectOf('a', i + 2) }, false)
      })
      let joined: Change<KubeObject> | undefined
      for (const change of changes) joined = joined === undefined ? change : joinChanges(joined, change)
      const known = present ? start : undefined
      expect(joined === undefined ? known : joined.before).toEqual(known)
      expect(joined === undefined ? known : joined.after).toEqual(store.get('a'))
      expect(joined?.deleted === undefined).toBe(joined === undefined || joined.after !== undefined)
    }),
  )
})

test('Change decodes each side once for all handlers', () => {
  const read = vi.fn((json: unknown) => json as KubeObject)
  const counted = (version: number): EncodedObject<KubeObject> => {
    const bytes = Buffer.from(JSON.stringify(objectOf('a', version)))
    return new EncodedObject(
      { apiVersion: 'v1', kind: 'ConfigMap', read },
      'a',
      String(version),
      { bytes },
      0,
      bytes.length,
    )
  }
  // Without a cache of parsed objects, every read of the store would decode.
  const store = new Indexer<KubeObject>({}, { hotObjects: 0 })
  store.put(counted(1))
  const [update] = applyDelta(store, { type: 'Updated', object: counted(2) }, false)
  for (let i = 0; i < 2; i++)
    expect([update?.before, update?.after]).toMatchObject([objectOf('a', 1), objectOf('a', 2)])
  expect(read).toHaveBeenCalledTimes(2)
  const [deletion] = applyDelta(store, { type: 'Deleted', object: counted(3) }, false)
  for (let i = 0; i < 2; i++) expect(deletion?.deleted?.object).toMatchObject(objectOf('a', 3))
  expect(read).toHaveBeenCalledTimes(3)
})

describe('Change of an encoded object', () => {
  const storeOf = (...names: readonly string[]): Indexer<KubeObject> => {
    const store = new Indexer<KubeObject>()
    store.replace(
      names.map((name) => encoded(objectOf(name, 1))),
      '1',
    )
    return store
  }
  const updated = (store: Indexer<KubeObject>, name: string, version: number): Change<KubeObject> =>
    applyDelta(store, { type: 'Updated', object: encoded(objectOf(name, version)) }, false)[0]!

  test('keeps both versions while the store renews the object', () => {
    const store = storeOf('a')
    const changes = [2, 3, 4].map((version) => updated(store, 'a', version))
    expect(show(changes)).toEqual(['a 1>2', 'a 2>3', 'a 3>4'])
    expect(store.get('a')).toEqual(objectOf('a', 4))
  })

  test('reads the object that the store has parsed, and leaves the parsed form to it', () => {
    const store = storeOf('a')
    const first = store.get('a')
    const change = updated(store, 'a', 2)
    expect(change.before).toBe(first)
    expect(change.after).toBe(store.get('a'))
  })

  test('keeps its version while it is pinned, and after it was read', () => {
    const store = storeOf('a', 'b')
    const [a, b] = initialChanges(store) as [Change<KubeObject>, Change<KubeObject>]
    for (const change of [a, b]) change.pin()
    const given = b.forHandler()
    expect([given.wasRead, given.after, given.wasRead]).toEqual([false, objectOf('b', 1), true])
    b.unpin()
    for (const name of ['a', 'b']) updated(store, name, 2)
    expect(show([a, given])).toEqual(['a ->1', 'b ->1'])
  })
})

describe('DeltaFifo', () => {
  test('delivers deltas in the order of arrival, over all keys, without merging', () => {
    const fifo = new DeltaFifo<KubeObject>()
    fifo.add(objectOf('a', 1))
    fifo.update(objectOf('b', 2))
    fifo.update(objectOf('a', 3))
    fifo.replace([], '4')
    fifo.delete(objectOf('b', 5))
    fifo.bookmark('6')
    const types = Array.from({ length: fifo.size }, () => fifo.pop()?.type)
    expect(types).toEqual(['Added', 'Updated', 'Updated', 'Replaced', 'Deleted', 'Bookmark'])
    expect(fifo.pop()).toBeUndefined()
  })

  test('resync() is queued at most once', () => {
    const fifo = new DeltaFifo<KubeObject>()
    fifo.resync()
    fifo.resync()
    expect([fifo.pop(), fifo.pop()]).toEqual([{ type: 'Sync' }, undefined])
    fifo.resync()
    expect(fifo.size).toBe(1)
  })

  test('transforms each object once, on arrival', () => {
    const seen: string[] = []
    const transform = (object: KubeObject): KubeObject => {
      seen.push(keyOf(object))
      return { ...object, kind: 'Lean' }
    }
    const fifo = new DeltaFifo<KubeObject>({ transform })
    fifo.replace([objectOf('a', 1)], '1')
    fifo.add(objectOf('b', 2))
    fifo.resync()
    expect(seen).toEqual(['a', 'b'])
    expect(fifo.pop()).toMatchObject({ objects: [{ kind: 'Lean' }] })
  })

  test('available() resolves with the next delta and rejects with the reason of an abort', async () => {
    const fifo = new DeltaFifo<KubeObject>()
    const controller = new AbortController()
    const waiting = fifo.available({ signal: controller.signal })
    fifo.bookmark('1')
    await waiting
    fifo.pop()
    const again = fifo.available({ signal: controller.signal })
    controller.abort(new Error('stop'))
    await expect(again).rejects.toThrow('stop')
  })
})
