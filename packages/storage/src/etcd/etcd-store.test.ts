import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { ProtoMessage } from '@kubewright/base/protobuf'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storageContract } from '../contract/contract.ts'
import { CompactedError, FutureRevisionError } from '../store/storage-error.ts'
import type { Change, Store, WatchBatch } from '../store/store.ts'
import { type EtcdProcess, noEtcd, startEtcd } from '../testdata/etcd-process.ts'
import { startProxy } from '../testdata/tcp-proxy.ts'
import { EtcdClient } from './etcd-client.ts'
import { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const pem = (name: string): Buffer => readFileSync(join(import.meta.dirname, '../testdata', 'tls', name))

let etcd: EtcdProcess
let prefixes = 0
/** A store on the etcd that the tests of this file share, with a key prefix of its own. */
const open = (options: Partial<EtcdStoreOptions> = {}): Promise<EtcdStore> =>
  openEtcdStore({ endpoints: [etcd.url], keyPrefix: `/test-${++prefixes}/`, ...options })

async function collect(watch: AsyncIterable<WatchBatch>, enough: (batch: WatchBatch) => boolean): Promise<Change[]> {
  const changes: Change[] = []
  for await (const batch of watch) {
    changes.push(...batch.changes)
    if (enough(batch)) break
  }
  return changes
}

/** Lets a test wait until a condition that other code changes is true. */
class Condition {
  #waiting: (() => void)[] = []

  /** Call after each change. */
  changed(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}

const keysOf = async (store: Store, prefix = ''): Promise<string[]> =>
  (await store.list({ prefix })).entries.map((entry) => entry.key)

describe('openEtcdStore()', () => {
  test('reports unreachable endpoints with reasons and advice', async () => {
    const endpoints = ['http://127.0.0.1:1', 'http://127.0.0.1:2']
    await expect(openEtcdStore({ endpoints })).rejects.toMatchObject({
      code: 'KW_STORAGE_UNAVAILABLE',
      message:
        'Cannot reach etcd at http://127.0.0.1:1, http://127.0.0.1:2 (connect ECONNREFUSED 127.0.0.1:1; connect ECONNREFUSED 127.0.0.1:2): check that it is running, that the addresses are correct and that its certificate is trusted',
    })
  })

  test('rejects invalid options', async () => {
    await expect(openEtcdStore({ endpoints: [] })).rejects.toThrow('endpoints must name at least one address')
    await expect(openEtcdStore({ endpoints: ['127.0.0.1:2379'] })).rejects.toThrow(
      'endpoints must be URLs such as https://10.0.0.1:2379: 127.0.0.1:2379',
    )
    await expect(openEtcdStore({ endpoints: ['http://127.0.0.1:1'], keyPrefix: '/ü' })).rejects.toThrow(RangeError)
  })
})

describe.skipIf(noEtcd !== undefined)(noEtcd === undefined ? 'with a real etcd' : `skipped: ${noEtcd}`, () => {
  beforeAll(async () => {
    etcd = await startEtcd()
  })
  afterAll(async () => {
    await etcd?.[Symbol.asyncDispose]()
  })

  storageContract('EtcdStore', test, open)

  test('EtcdStore sees the writes of another store with the same key prefix', async () => {
    await using one = await open()
    await using two = await open({ keyPrefix: `/test-${prefixes}/` })
    const after = await one.revision()
    const seen = collect(one.watch({ prefix: '/', after }), ({ changes }) => changes.some((c) => c.key === '/b'))
    await one.put('/a', bytes('1'), 0)
    expect(await two.put('/a', bytes('2'), 0)).toMatchObject({ ok: false, current: { key: '/a' } })
    await two.put('/b', bytes('2'), 0)
    expect((await seen).map((c) => c.key)).toEqual(['/a', '/b'])
    expect(await keysOf(one)).toEqual(['/a', '/b'])
  })

  test('EtcdStore separates prefixes that start with the same text', async () => {
    await using short = await open({ keyPrefix: '/alike' })
    await using long = await open({ keyPrefix: '/alike2' })
    await long.put('/x', bytes('1'), 0)
    await short.put('/y', bytes('1'), 0)
    expect(await keysOf(short)).toEqual(['/y'])
    expect(await keysOf(long)).toEqual(['/x'])
  })

  test('EtcdStore.watch() reports progress for revisions in which only other keys changed', async () => {
    await using watched = await open()
    await using busy = await open()
    await watched.put('/a', bytes('1'), 0)
    const after = await watched.revision()
    for (let i = 0; i < 5; i++) await busy.put(`/${i}`, bytes('x'), 0)
    const target = await busy.revision()
    const started = collect(watched.watch({ prefix: '/', after }), ({ revision }) => revision >= target)
    await watched.revision()
    expect(await started).toEqual([])
  })

  test('EtcdStore.watch() never reports a revision before it delivered the changes up to it', async () => {
    await using watched = await open()
    await using busy = await open()
    const after = await watched.revision()
    const stop = new AbortController()
    const violations: string[] = []
    const seen: number[] = []
    let last = Number.POSITIVE_INFINITY
    const watching = (async () => {
      let claimed = after
      for await (const { changes, revision } of watched.watch({ prefix: '/w/', after, signal: stop.signal })) {
        for (const change of changes) {
          if (change.revision <= claimed) violations.push(`${change.revision} came after ${claimed} was claimed`)
          seen.push(change.revision)
        }
        if (revision < claimed) violations.push(`went back from ${claimed} to ${revision}`)
        claimed = revision
        if (seen.length >= 60 && claimed >= last) stop.abort()
      }
    })()
    const written: number[] = []
    for (let i = 0; i < 60; i++) {
      await Promise.all([busy.put(`/${i}`, bytes('x'), 0), busy.put(`/more/${i}`, bytes('x'), 0)])
      written.push((await watched.put(`/w/${i}`, bytes('x'), 0)).revision)
    }
    await busy.put('/last', bytes('x'), 0)
    last = await watched.revision()
    await watching
    expect(violations).toEqual([])
    expect(seen).toEqual(written)
  })

  test('EtcdStore.watch() resumes after repeated connection losses', async () => {
    await using proxy = await startProxy(etcd.url)
    await using watched = await open({ endpoints: [proxy.url] })
    await using writer = await open({ keyPrefix: `/test-${prefixes}/` })
    const after = await watched.revision()
    const count = 60
    const written: number[] = []
    const seen: number[] = []
    const progress = new Condition()
    const watching = (async () => {
      for await (const { changes } of watched.watch({ prefix: '/', after })) {
        seen.push(...changes.map((change) => change.revision))
        progress.changed()
        if (changes.at(-1)?.key === `/${count - 1}`) break
      }
    })()
    for (let i = 0; i < count; i++) {
      if (i % 20 === 10) {
        // Each time the watch has resumed and has changes to lose.
        await progress.until(() => seen.length >= i - 5)
        proxy.cut()
      }
      written.push((await writer.put(`/${i}`, bytes(`v${i}`), 0)).revision)
    }
    await watching
    expect(seen).toEqual(written)
  })

  test('EtcdStore.watch() fails with CompactedError when history is compacted while it is disconnected', async () => {
    await using proxy = await startProxy(etcd.url)
    await using watched = await open({ endpoints: [proxy.url] })
    await using writer = await open({ keyPrefix: `/test-${prefixes}/` })
    const after = (await writer.put('/first', bytes('1'), 0)).revision
    const batches = watched.watch({ prefix: '/', after: after - 1 })[Symbol.asyncIterator]()
    await batches.next()
    // The response to the next change does not arrive, so the watch stays behind.
    proxy.swallowAnswers()
    await writer.put('/second', bytes('1'), 0)
    const third = await writer.put('/third', bytes('1'), 0)
    await writer.compact(third.revision)
    proxy.heal()
    proxy.cut()
    const failure: unknown = await batches.next().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(CompactedError)
    expect(failure).toMatchObject({ compactRevision: third.revision })
  })

  test('EtcdStore.watch() delivers every change in order to a slow reader', async () => {
    await using store = await open()
    const after = await store.revision()
    const watch = store.watch({ prefix: '/', after })[Symbol.asyncIterator]()
    const first = watch.next()
    await store.put('/first', bytes('1'), 0)
    await first
    const large = new Uint8Array(50_000)
    const written: number[] = []
    for (let i = 0; i < 300; i++) written.push((await store.put(`/${i}`, large, 0)).revision)
    const seen: number[] = []
    while (seen.length < written.length) {
      const { changes } = (await watch.next()).value as WatchBatch
      seen.push(...changes.map((change) => change.revision))
    }
    await watch.return?.()
    expect(seen).toEqual(written)
  })

  test('EtcdStore.watch() rejects a future revision', async () => {
    await using store = await open()
    const watch = store.watch({ prefix: '/', after: (await store.revision()) + 5 })
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(FutureRevisionError)
  })

  test('EtcdStore.watch() ends with an error when the store is closed', async () => {
    const store = await open()
    const next = store
      .watch({ prefix: '/', after: await store.revision() })
      [Symbol.asyncIterator]()
      .next()
    await store[Symbol.asyncDispose]()
    await expect(next).rejects.toMatchObject({ code: 'KW_STORAGE_CLOSED' })
    await expect(store.revision()).rejects.toMatchObject({ code: 'KW_STORAGE_CLOSED' })
    expect(() => store.watch({ prefix: '/' })).toThrow('Cannot use the store as it was closed')
  })

  test('EtcdStore uses the next endpoint when one is down or goes down', async () => {
    await using proxy = await startProxy(etcd.url)
    const dead = 'http://127.0.0.1:1'
    await using store = await open({ endpoints: [dead, proxy.url, etcd.url] })
    await store.put('/a', bytes('1'), 0)
    await proxy[Symbol.asyncDispose]()
    expect(await keysOf(store)).toEqual(['/a'])
    expect((await store.put('/b', bytes('1'), 0)).ok).toBe(true)
  })

  test('EtcdStore reports a write without a response as uncertain and a read without one as unavailable', async () => {
    await using proxy = await startProxy(etcd.url)
    // Long enough for the requests that open the store on a busy machine.
    await using store = await open({ endpoints: [proxy.url], requestTimeout: 1000 })
    await using other = await open({ keyPrefix: `/test-${prefixes}/` })
    proxy.swallowAnswers()
    await expect(store.put('/a', bytes('1'), 0)).rejects.toMatchObject({
      code: 'KW_STORAGE_UNCERTAIN',
      message: expect.stringMatching(
        /^Cannot determine whether etcd at \S+ made the write \(no response within \d+ ms\): read the key before retrying$/,
      ),
    })
    await expect(store.get('/a')).rejects.toMatchObject({
      code: 'KW_STORAGE_UNAVAILABLE',
      message: expect.stringMatching(/Cannot reach etcd at \S+ \(no response within \d+ ms\)/),
    })
    expect(await keysOf(other)).toEqual(['/a'])
  })

  test('EtcdStore rejects a value that is too large and names the option to raise', async () => {
    await using store = await open()
    await expect(store.put('/big', new Uint8Array(1_600_000), 0)).rejects.toMatchObject({
      code: 'KW_STORAGE_WRITE',
      message: `Cannot write to etcd at ${etcd.url} (etcdserver: request is too large): store smaller values or raise its --max-request-bytes`,
    })
    const large = new Uint8Array(1_400_000).fill(7)
    await store.put('/large', large, 0)
    expect((await store.get('/large')).entry?.value.length).toBe(large.length)
  })

  test('EtcdStore completes the writes in flight when it is closed', async () => {
    const store = await open()
    const keyPrefix = `/test-${prefixes}/`
    const writes = Array.from({ length: 20 }, (_, i) => store.put(`/${i}`, bytes('1'), 0))
    await store[Symbol.asyncDispose]()
    expect((await Promise.all(writes)).every((result) => result.ok)).toBe(true)
    await using again = await open({ keyPrefix })
    expect(await keysOf(again)).toHaveLength(20)
  })
})

describe.skipIf(noEtcd !== undefined)('with a separate etcd', () => {
  test('EtcdStore loses no acknowledged write and no change when etcd is killed under load and restarted', async () => {
    await using server = await startEtcd()
    const options = { endpoints: [server.url] }
    await using store = await openEtcdStore(options)
    await using watched = await openEtcdStore(options)
    const after = await watched.revision()
    const acknowledged = new Map<string, number>()
    const stop = new AbortController()
    const seen: Change[] = []
    const progress = new Condition()
    const watching = (async () => {
      for await (const batch of watched.watch({ prefix: '/', after })) {
        seen.push(...batch.changes)
        progress.changed()
        if (batch.changes.some((change) => change.key === '/last')) break
      }
    })()
    let next = 0
    const codes = new Set<unknown>()
    const writer = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const key = `/${next++}`
        try {
          acknowledged.set(key, (await store.put(key, bytes(key), 0)).revision)
          progress.changed()
        } catch (error) {
          codes.add((error as { code: unknown }).code)
        }
      }
    }
    const writers = Array.from({ length: 8 }, writer)
    for (let round = 1; round <= 2; round++) {
      await progress.until(() => acknowledged.size >= 100 * round && seen.length >= 90 * round)
      await server.kill()
      await server.start()
    }
    await progress.until(() => acknowledged.size >= 300)
    stop.abort()
    await Promise.all(writers)
    codes.delete('KW_STORAGE_UNAVAILABLE')
    codes.delete('KW_STORAGE_UNCERTAIN')
    expect([...codes]).toEqual([])
    await store.put('/last', bytes('end'), 0)
    await watching
    const revisions = seen.map((change) => change.revision)
    expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b))
    const stored = new Map((await store.list({ prefix: '' })).entries.map((entry) => [entry.key, entry.modRevision]))
    expect([...acknowledged].filter(([key, revision]) => stored.get(key) !== revision)).toEqual([])
    expect(new Map(seen.map((change) => [change.key, change.revision]))).toEqual(stored)
  })

  test('EtcdStore uses TLS, logs in again when the token is invalid, and reports missing permissions', async () => {
    const tls = { ca: pem('ca.pem'), cert: pem('client.pem'), key: pem('client-key.pem') }
    const folder = join(import.meta.dirname, '../testdata', 'tls')
    await using server = await startEtcd({
      scheme: 'https',
      flags: [
        ...['--cert-file', join(folder, 'server.pem'), '--key-file', join(folder, 'server-key.pem')],
        ...['--trusted-ca-file', join(folder, 'ca.pem'), '--client-cert-auth'],
      ],
    })
    const endpoints = [server.url]
    await expect(openEtcdStore({ endpoints })).rejects.toThrow(
      /Cannot reach etcd .*unable to verify the first certificate/,
    )
    await expect(openEtcdStore({ endpoints, tls: { ca: tls.ca } })).rejects.toMatchObject({
      code: 'KW_STORAGE_UNAVAILABLE',
    })
    const keyPrefix = '/secret/'
    await enableAuth(endpoints, tls, keyPrefix)
    const auth = { username: 'writer', password: 'opensesame' }

    await using store = await openEtcdStore({ endpoints, tls, auth, keyPrefix })
    const after = await store.revision()
    expect((await store.put('/a', bytes('1'), 0)).ok).toBe(true)
    const watch = store.watch({ prefix: '/', after })[Symbol.asyncIterator]()
    expect((await watch.next()).value).toMatchObject({ changes: [{ key: '/a' }] })
    // Tokens do not survive a restart of the server.
    await server.kill()
    await server.start()
    expect((await store.put('/b', bytes('1'), 0)).ok).toBe(true)
    expect((await watch.next()).value).toMatchObject({ changes: [{ key: '/b' }] })
    await watch.return?.()

    await expect(
      openEtcdStore({ endpoints, tls, auth: { ...auth, password: 'guess' }, keyPrefix }),
    ).rejects.toMatchObject({
      code: 'KW_STORAGE_UNAVAILABLE',
      message: `Cannot log in to etcd at ${server.url} as user writer (etcdserver: authentication failed, invalid user ID or password): check the user name and the password`,
    })
    await expect(openEtcdStore({ endpoints, tls, auth, keyPrefix: '/other/' })).rejects.toThrow(
      `Cannot read from etcd at ${server.url} (etcdserver: permission denied): grant the user a role that may read and write the key prefix`,
    )
  })
})

/** Enables authentication with a user `root` and a user `writer` that may access only the prefix. */
async function enableAuth(endpoints: string[], tls: EtcdStoreOptions['tls'], prefix: string): Promise<void> {
  const [connectTimeout, requestTimeout, keepAliveInterval] = ['5s', '5s', '5s'] as const
  const common = { endpoints, tls, clock: systemClock, auth: undefined }
  const client = new EtcdClient({ ...common, connectTimeout, requestTimeout, keepAliveInterval })
  const call = (method: string, message: ProtoMessage): Promise<unknown> =>
    client.write(`/etcdserverpb.Auth/${method}`, message)
  const two = (first: string, second: string): ProtoMessage => new ProtoMessage().text(1, first).text(2, second)
  const end = Buffer.from(prefix)
  end[end.length - 1]!++
  const readWrite = new ProtoMessage().integer(1, 2).text(2, prefix).bytes(3, end)
  await call('UserAdd', two('root', 'root'))
  await call('UserGrantRole', two('root', 'root'))
  await call('UserAdd', two('writer', 'opensesame'))
  await call('RoleAdd', new ProtoMessage().text(1, 'writers'))
  await call('RoleGrantPermission', new ProtoMessage().text(1, 'writers').message(2, readWrite))
  await call('UserGrantRole', two('writer', 'writers'))
  await call('AuthEnable', new ProtoMessage())
  await client.close()
}
