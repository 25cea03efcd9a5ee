import type { KubeObject } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import type { AddOptions } from '../../queue/queue.ts'
import { createControllerRunner } from '../controller-runner.ts'
import { defineKeyController } from '../key-controller.ts'
import { Deployment, Estate, Home, objectOf, testParts } from '../testdata/test-parts.ts'
import { forOwner, mapTo } from './key-mapping.ts'
import { type KindSourceOptions, kindSource } from './kind-source.ts'
import { changed } from './predicates.ts'

function start(options: KindSourceOptions<KubeObject> = {}, kind = Home) {
  const parts = testParts()
  const added: { readonly key: string; readonly options: AddOptions | undefined }[] = []
  const sink = {
    controller: 'test',
    add: (key: string, more?: AddOptions) => void added.push({ key, options: more }),
    addAfter: () => undefined,
  }
  const running = kindSource(kind, options).start(sink, parts)
  const cached = parts.cluster.of(kind)
  const keys = (): string[] => added.splice(0).map(({ key }) => key)
  return { parts, added, keys, running, cached }
}

const ownedBy = (name: string, more: object = {}) => {
  return { apiVersion: 'example.com/v1', kind: 'Home', name, uid: `uid-${name}`, controller: true, ...more }
}

describe('kindSource()', () => {
  test('adds keys of the initial list and of resyncs at low priority, and keys of changes at its own', () => {
    const { added, cached } = start()
    cached.put(objectOf(Home, 'a', 1))
    cached.sync()
    cached.put(objectOf(Home, 'b', 2))
    cached.put(objectOf(Home, 'a', 3))
    cached.resync()
    cached.remove('ns/b')
    expect(added.map(({ key, options }) => [key, options?.priority, options?.cause?.event])).toEqual([
      ['ns/a', -100, 'add'],
      ['ns/b', 0, 'add'],
      ['ns/a', 0, 'update'],
      ['ns/a', -100, 'resync'],
      ['ns/b', -100, 'resync'],
      ['ns/b', 0, 'delete'],
    ])
  })

  test('uses its priority option, for initial objects only if it is lower', () => {
    const high = start({ priority: 5 })
    high.cached.put(objectOf(Home, 'a', 1))
    high.cached.sync()
    high.cached.put(objectOf(Home, 'a', 2))
    expect(high.added.map(({ options }) => options?.priority)).toEqual([-100, 5])
    const low = start({ priority: -500 })
    low.cached.put(objectOf(Home, 'a', 1))
    low.cached.sync()
    expect(low.added.map(({ options }) => options?.priority)).toEqual([-500])
  })

  test('adds causes with kind, object, changed paths and writers', () => {
    const { added, cached } = start()
    cached.sync()
    cached.put(objectOf(Home, 'a', 1, { spec: { replicas: 1 } }))
    const metadata = { managedFields: [{ manager: 'kubectl-edit' }] }
    cached.put(objectOf(Home, 'a', 2, { spec: { replicas: 2 }, metadata }))
    const facts = { kind: 'example.com/v1 Home', object: 'ns/a' }
    expect(added.map(({ options }) => options?.cause)).toMatchObject([
      { event: 'add', ...facts },
      { event: 'update', ...facts },
    ])
    expect(added[1]?.options?.cause?.paths).toEqual(['spec.replicas'])
    expect(added[1]?.options?.cause?.by).toEqual(['kubectl-edit'])
  })

  test('calls predicates for adds and updates, never for deletions', () => {
    const { keys, cached } = start({ predicates: [changed('spec'), { add: ({ metadata }) => metadata.name !== 'b' }] })
    cached.put(objectOf(Home, 'b', 1))
    cached.sync()
    cached.put(objectOf(Home, 'a', 1, { spec: { x: 1 } }))
    cached.put(objectOf(Home, 'a', 2, { spec: { x: 1 }, status: {} }))
    expect(keys()).toEqual(['ns/a'])
    cached.put(objectOf(Home, 'a', 3, { spec: { x: 2 } }))
    cached.put(objectOf(Home, 'a', 4, { spec: { x: 2 }, metadata: { deletionTimestamp: '2025-01-01T00:00:00Z' } }))
    cached.remove('ns/b')
    expect(keys()).toEqual(['ns/a', 'ns/a', 'ns/b'])
  })

  test('maps an update to the keys of the object before and after, each once', () => {
    const { keys, cached } = start({ map: forOwner(Home) }, Deployment)
    const web = (version: number, ...owners: object[]) =>
      objectOf(Deployment, 'web', version, { metadata: { ownerReferences: owners } })
    cached.sync()
    cached.put(web(1, ownedBy('a')))
    expect(keys()).toEqual(['ns/a'])
    cached.put(web(2, ownedBy('a')))
    expect(keys()).toEqual(['ns/a'])
    cached.put(web(3, ownedBy('b')))
    expect(keys()).toEqual(['ns/a', 'ns/b'])
    cached.put(web(4))
    expect(keys()).toEqual(['ns/b'])
    cached.remove('ns/web')
    expect(keys()).toEqual([])
  })

  test('waits for an asynchronous mapping, and retries a failed one with back-off', async () => {
    let broken = true
    const map = mapTo<KubeObject>(async (object) => {
      if (broken) throw new Error('no answer')
      return [{ name: object.metadata.name, namespace: 'other' }, 'ns/x', 'ns/x']
    })
    const { parts, keys, cached, running } = start({ map })
    cached.sync()
    cached.put(objectOf(Home, 'a', 1))
    await parts.clock.advance(0)
    await parts.clock.advance('1s')
    await parts.clock.advance('1s')
    expect(parts.log.records.map(({ message, values }) => [message, values['retryIn']])).toEqual([
      ['Mapping a change to keys failed; retrying', '1s'],
      ['Mapping a change to keys failed; retrying', '2s'],
    ])
    broken = false
    await parts.clock.advance('1s')
    expect(keys()).toEqual(['other/a', 'ns/x'])
    expect(parts.clock.pending).toEqual([])
    broken = true
    cached.put(objectOf(Home, 'a', 2))
    await parts.clock.advance(0)
    expect(parts.log.records.at(-1)?.values['retryIn'], 'a success resets the back-off').toBe('1s')
    await running[Symbol.asyncDispose]()
  })

  test('rescan() adds every key again, at low priority', () => {
    const { added, keys, cached, running } = start()
    cached.put(objectOf(Home, 'a', 1))
    cached.put(objectOf(Home, 'b', 1))
    cached.sync()
    keys()
    running.rescan?.()
    expect(added.map(({ key, options }) => [key, options?.priority, options?.cause?.event])).toEqual([
      ['ns/a', -100, 'resync'],
      ['ns/b', -100, 'resync'],
    ])
  })

  test('[Symbol.asyncDispose]() releases its lease of the cache and cancels pending retries', async () => {
    const { parts, cached, running } = start({ map: mapTo(() => Promise.reject(new Error('x'))) })
    cached.sync()
    cached.put(objectOf(Home, 'a', 1))
    await parts.clock.advance(0)
    expect([cached.leases, parts.clock.pending.length]).toEqual([1, 1])
    await running[Symbol.asyncDispose]()
    expect([cached.leases, cached.handlers.size, parts.clock.pending.length]).toEqual([0, 0, 0])
  })

  test('passes its scope to the cache', () => {
    const { cached } = start({ scope: { namespaces: ['ns'], labelSelector: 'a=b' } })
    expect(cached.scopes).toEqual([{ namespaces: ['ns'], labelSelector: 'a=b' }])
  })
})

describe('warmUp() of a controller', () => {
  const failing = {
    state: 'failing',
    since: 0,
    failures: 3,
    message: 'Cannot list homes.example.com: forbidden',
    fix: 'Grant this client the verbs list and watch on homes.example.com',
  } as const
  const runnerOf = (options: KindSourceOptions<KubeObject>, parts = testParts()) => {
    const controller = defineKeyController({
      name: 'test',
      kind: Home,
      sources: [kindSource(Home, options), kindSource(Deployment, { map: forOwner(Home), name: 'Deployment (owned)' })],
      reconcile: () => undefined,
    })
    return { parts, runner: createControllerRunner(controller, parts) }
  }

  test('rejects after two minutes with each source, its problem and the fix', async () => {
    const { parts, runner } = runnerOf({})
    const warming = runner.warmUp()
    const message = warming.catch((error: Error) => error.message)
    parts.cluster.of(Home).health = failing
    await parts.clock.advance('2m')
    expect(await message).toBe(
      'Controller "test" cannot start: not synced within 2m0s: source "Home": Cannot list homes.example.com: forbidden. ' +
        'Grant this client the verbs list and watch on homes.example.com; ' +
        'source "Deployment (owned)": apps/v1 Deployment has not been listed yet',
    )
    await expect(warming).rejects.toMatchObject({ code: 'KW_CACHE_NOT_SYNCED' })
    expect(runner.problems()).toHaveLength(2)
    // Warming up again succeeds once the problem is solved.
    parts.cluster.of(Home).sync()
    parts.cluster.of(Deployment).sync()
    await runner.warmUp()
    expect(runner.problems()).toEqual([])
    await runner[Symbol.asyncDispose]()
  })

  test('does not wait for an optional kind, and watches it once it is installed', async () => {
    const { parts, runner } = runnerOf({ optional: true })
    const homes = parts.cluster.of(Home)
    homes.health = { ...failing, missing: true }
    parts.cluster.of(Deployment).sync()
    await runner.warmUp()
    expect(runner.problems()).toEqual([])
    homes.health = failing
    expect(runner.problems()).toHaveLength(1)
    homes.put(objectOf(Home, 'a', 1))
    homes.sync()
    expect(runner.queue().ready.map(({ key }) => key)).toEqual(['ns/a'])
    await runner[Symbol.asyncDispose]()
  })

  test('ends early when the signal aborts', async () => {
    const { parts, runner } = runnerOf({})
    const stop = new AbortController()
    const warming = runner.warmUp({ signal: stop.signal })
    stop.abort(new Error('enough'))
    await expect(warming).rejects.toThrow('enough')
    expect(parts.clock.pending).toEqual([])
    await runner[Symbol.asyncDispose]()
  })
})

describe('forOwner()', () => {
  const context = {} as Parameters<ReturnType<typeof forOwner>>[1]
  const keysOf = (map: ReturnType<typeof forOwner>, ...ownerReferences: object[]) =>
    map(objectOf(Deployment, 'web', 1, { metadata: { ownerReferences } }), context)

  test('maps to the controller only, unless everyOwner is set', () => {
    const owners = [ownedBy('a'), ownedBy('b', { controller: undefined })]
    expect(keysOf(forOwner(Home), ...owners)).toEqual(['ns/a'])
    expect(keysOf(forOwner(Home, { everyOwner: true }), ...owners)).toEqual(['ns/a', 'ns/b'])
  })

  test('compares group and kind, not the version', () => {
    expect(keysOf(forOwner(Home), ownedBy('a', { apiVersion: 'example.com/v1beta1' }))).toEqual(['ns/a'])
    expect(keysOf(forOwner(Home), ownedBy('a', { apiVersion: 'other.com/v1' }))).toEqual([])
    expect(keysOf(forOwner(Home), ownedBy('a', { kind: 'House' }))).toEqual([])
  })

  test('omits the namespace for a cluster-scoped owner', () => {
    expect(keysOf(forOwner(Estate), ownedBy('a', { kind: 'Estate' }))).toEqual(['a'])
  })
})
