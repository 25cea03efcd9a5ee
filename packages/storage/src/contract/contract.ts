// The conformance suite that every store must pass. The test file of a store opens it and passes it to storageContract().
import assert from 'node:assert/strict'
import { append, seededRandom } from '@kubewright/base'
import { CompactedError, FutureRevisionError } from '../store/storage-error.ts'
import type { Change, Store, WatchBatch, WriteResult } from '../store/store.ts'
import { storageModelRun } from './contract-model.ts'

/** The part of a test runner that the suite needs. The `test` functions of vitest and node:test satisfy it. */
export type TestFunction = (name: string, body: () => Promise<void>) => unknown

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined): string | undefined =>
  value ? new TextDecoder().decode(value) : undefined

function written(result: WriteResult): Extract<WriteResult, { ok: true }> {
  assert.ok(result.ok, 'the condition of the write must hold')
  return result
}

/** Collects changes until there are at least `count`. */
async function take(watch: AsyncIterable<WatchBatch>, count: number): Promise<Change[]> {
  const changes: Change[] = []
  for await (const batch of watch) {
    append(changes, batch.changes)
    if (changes.length >= count) break
  }
  return changes
}

/** Registers the tests that hold for every {@link Store}. `open` returns a new empty store for each test. */
export function storageContract(name: string, test: TestFunction, open: () => Promise<Store>): void {
  const it = (behaviour: string, body: (store: Store) => Promise<void>): unknown =>
    test(`${name}: ${behaviour}`, async () => {
      const store = await open()
      try {
        await body(store)
      } finally {
        await store[Symbol.asyncDispose]()
      }
    })

  it('put() creates a key once, under the next revision', async (store) => {
    const before = await store.revision()
    const { entry, revision, previous } = written(await store.put('/a', bytes('1'), 0))
    assert.equal(revision, before + 1)
    assert.equal(previous, undefined)
    assert.deepEqual(
      { ...entry, value: text(entry?.value) },
      { key: '/a', value: '1', createRevision: revision, modRevision: revision },
    )
    const again = await store.put('/a', bytes('2'), 0)
    assert.ok(!again.ok)
    assert.equal(text(again.current?.value), '1')
    assert.equal(await store.revision(), revision)
  })

  it('put() replaces a key only at the expected revision', async (store) => {
    const first = written(await store.put('/a', bytes('1'), 0))
    const second = written(await store.put('/a', bytes('2'), first.revision))
    assert.equal(text(second.previous?.value), '1')
    assert.equal(second.entry?.createRevision, first.revision)
    const stale = await store.put('/a', bytes('3'), first.revision)
    assert.ok(!stale.ok)
    assert.equal(stale.current?.modRevision, second.revision)
    assert.equal(text((await store.get('/a')).entry?.value), '2')
  })

  it('put() of a key that does not exist fails when a revision is expected', async (store) => {
    const result = await store.put('/none', bytes('1'), 7)
    assert.ok(!result.ok)
    assert.equal(result.current, undefined)
  })

  it('put() rejects keys that are empty, too long or not printable ASCII', async (store) => {
    await assert.rejects(store.put('', bytes('1'), 0), RangeError)
    await assert.rejects(store.put('/ü', bytes('1'), 0), RangeError)
    await assert.rejects(store.put('/a\n', bytes('1'), 0), RangeError)
    await assert.rejects(store.put('/'.repeat(70_000), bytes('1'), 0), RangeError)
  })

  it('put() stores any bytes, including none', async (store) => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i)
    await store.put('/all', all, 0)
    await store.put('/none', new Uint8Array(0), 0)
    assert.deepEqual(Uint8Array.from((await store.get('/all')).entry!.value), all)
    assert.equal((await store.get('/none')).entry!.value.length, 0)
  })

  it('delete() removes a key at the expected revision, and the key can be created again', async (store) => {
    const { revision } = written(await store.put('/a', bytes('1'), 0))
    assert.ok(!(await store.delete('/a', revision + 5)).ok)
    const gone = written(await store.delete('/a', revision))
    assert.equal(gone.revision, revision + 1)
    assert.equal(text(gone.previous?.value), '1')
    assert.equal((await store.get('/a')).entry, undefined)
    assert.ok(!(await store.delete('/a', gone.revision)).ok)
    const again = written(await store.put('/a', bytes('2'), 0))
    assert.equal(again.entry?.createRevision, again.revision)
  })

  it('put() lets exactly one of many concurrent writers succeed per revision', async (store) => {
    written(await store.put('/counter', bytes('0'), 0))
    const writer = async (): Promise<void> => {
      for (let done = 0; done < 10; ) {
        const { entry } = await store.get('/counter')
        const result = await store.put('/counter', bytes(String(Number(text(entry!.value)) + 1)), entry!.modRevision)
        if (result.ok) done++
      }
    }
    await Promise.all(Array.from({ length: 8 }, writer))
    assert.equal(text((await store.get('/counter')).entry?.value), '80')
  })

  it('get() reads a key as it was at an earlier revision', async (store) => {
    const one = written(await store.put('/a', bytes('1'), 0)).revision
    const two = written(await store.put('/a', bytes('2'), one)).revision
    const three = written(await store.delete('/a', two)).revision
    assert.equal(text((await store.get('/a', { revision: one })).entry?.value), '1')
    assert.equal(text((await store.get('/a', { revision: two })).entry?.value), '2')
    assert.equal((await store.get('/a', { revision: three })).entry, undefined)
    await assert.rejects(store.get('/a', { revision: three + 1 }), FutureRevisionError)
  })

  it('list() returns the keys of a prefix in order, page by page, at one revision', async (store) => {
    for (const key of ['/b/2', '/a/3', '/a/1', '/a/2', '/c/1', '/a']) await store.put(key, bytes(key), 0)
    const all = await store.list({ prefix: '/a/' })
    assert.deepEqual(
      all.entries.map((e) => e.key),
      ['/a/1', '/a/2', '/a/3'],
    )
    assert.equal(all.next, undefined)
    assert.equal(all.remaining, 0)
    const first = await store.list({ prefix: '/a/', limit: 2 })
    assert.deepEqual(
      first.entries.map((e) => e.key),
      ['/a/1', '/a/2'],
    )
    assert.equal(first.remaining, 1)
    await store.put('/a/0', bytes(''), 0)
    await store.put('/a/4', bytes(''), 0)
    await store.delete('/a/3', (await store.get('/a/3')).entry!.modRevision)
    const rest = await store.list({ prefix: '/a/', after: first.next!, revision: first.revision, limit: 2 })
    assert.deepEqual(
      rest.entries.map((e) => e.key),
      ['/a/3'],
    )
    assert.equal(rest.revision, first.revision)
    assert.equal(rest.next, undefined)
    assert.deepEqual(
      (await store.list({ prefix: '/a/' })).entries.map((e) => e.key),
      ['/a/0', '/a/1', '/a/2', '/a/4'],
    )
  })

  it('list() of an unknown prefix is empty, and of the empty prefix is everything', async (store) => {
    await store.put('/x', bytes('1'), 0)
    assert.deepEqual((await store.list({ prefix: '/y' })).entries, [])
    assert.equal((await store.list({ prefix: '' })).entries.length, 1)
  })

  it('watch() delivers each change of the prefix once, in order, with the previous entry', async (store) => {
    const start = await store.revision()
    const one = written(await store.put('/a/1', bytes('1'), 0)).revision
    await store.put('/b/1', bytes('x'), 0)
    const watch = take(store.watch({ prefix: '/a/', after: start }), 3)
    const two = written(await store.put('/a/1', bytes('2'), one)).revision
    const three = written(await store.delete('/a/1', two)).revision
    const changes = await watch
    assert.deepEqual(
      changes.map((c) => [c.type, c.key, c.revision, text(c.entry?.value), text(c.previous?.value)]),
      [
        ['put', '/a/1', one, '1', undefined],
        ['put', '/a/1', two, '2', '1'],
        ['delete', '/a/1', three, undefined, '2'],
      ],
    )
  })

  it('watch() without a revision starts after the newest one', async (store) => {
    await store.put('/a', bytes('1'), 0)
    const iterator = store.watch({ prefix: '/' })[Symbol.asyncIterator]()
    const first = iterator.next()
    // When a watch that was opened later has delivered, the first watch is established.
    const probe = take(store.watch({ prefix: '/', after: await store.revision() }), 1)
    await store.put('/b', bytes('2'), 0)
    await probe
    const batch = await first
    assert.deepEqual(
      (batch.value as WatchBatch).changes.map((c) => c.key),
      ['/b'],
    )
    await iterator.return?.()
  })

  it('watch() delivers every change to each of many watchers, filtered by prefix', async (store) => {
    const after = await store.revision()
    const prefixes = ['/a/', '/b/', '/']
    const watches = Array.from({ length: 30 }, (_, i) => {
      const prefix = prefixes[i % prefixes.length]!
      return take(store.watch({ prefix, after }), prefix === '/' ? 20 : 10)
    })
    const keys = Array.from({ length: 20 }, (_, i) => `${prefixes[i % 2]}${i}`)
    for (const key of keys) await store.put(key, bytes('1'), 0)
    for (const [i, watch] of watches.entries()) {
      const prefix = prefixes[i % prefixes.length]!
      assert.deepEqual(
        (await watch).map((change) => change.key),
        keys.filter((key) => key.startsWith(prefix)),
      )
    }
  })

  it('watch() reports progress when only other keys change', async (store) => {
    const after = await store.revision()
    const watch = store.watch({ prefix: '/a/', after })[Symbol.asyncIterator]()
    const first = watch.next()
    const { revision } = written(await store.put('/b/1', bytes('1'), 0))
    let batch = (await first).value as WatchBatch
    while (batch.revision < revision) batch = (await watch.next()).value as WatchBatch
    assert.deepEqual(batch, { changes: [], revision })
    await watch.return?.()
  })

  it('watch() ends for all watchers that share an aborted signal', async (store) => {
    const abort = new AbortController()
    const after = await store.revision()
    const ends = Array.from({ length: 12 }, async () => {
      for await (const _ of store.watch({ prefix: '/', after, signal: abort.signal })) void _
    })
    await store.put('/a', bytes('1'), 0)
    abort.abort()
    await Promise.all(ends)
  })

  it('watch() ends without an error when its signal aborts', async (store) => {
    const abort = new AbortController()
    const end = (async () => {
      for await (const _ of store.watch({ prefix: '/', signal: abort.signal })) void _
      return 'ended'
    })()
    await store.put('/a', bytes('1'), 0)
    abort.abort()
    assert.equal(await end, 'ended')
  })

  it('watch() leaves the store usable when its consumer stops early', async (store) => {
    const start = await store.revision()
    await store.put('/a', bytes('1'), 0)
    await take(store.watch({ prefix: '/', after: start }), 1)
    await store.put('/b', bytes('1'), 0)
    assert.deepEqual(
      (await take(store.watch({ prefix: '/', after: start }), 2)).map((c) => c.key),
      ['/a', '/b'],
    )
  })

  it('compact() makes reads and watches of older revisions fail and keeps newer ones', async (store) => {
    const one = written(await store.put('/a', bytes('1'), 0)).revision
    const two = written(await store.put('/a', bytes('2'), one)).revision
    const three = written(await store.put('/a', bytes('3'), two)).revision
    await store.compact(two)
    await assert.rejects(store.get('/a', { revision: one }), CompactedError)
    await assert.rejects(store.list({ prefix: '/', revision: one }), CompactedError)
    await assert.rejects(take(store.watch({ prefix: '/', after: one }), 1), CompactedError)
    assert.equal(text((await store.get('/a', { revision: two })).entry?.value), '2')
    assert.deepEqual(
      (await take(store.watch({ prefix: '/', after: two }), 1)).map((c) => c.revision),
      [three],
    )
    await store.compact(one)
    await assert.rejects(store.compact(three + 10), FutureRevisionError)
  })

  for (const seed of [1, 2, 3]) {
    it(`any sequence of operations matches a reference model (seed ${seed})`, async (store) => {
      await storageModelRun(store, seededRandom(seed), 300)
    })
  }
}
