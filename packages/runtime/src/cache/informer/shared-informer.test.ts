import type { KubeObject } from '@kubewright/api'
import { Deferred, type MetricSink, memoryLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FakeSource, objectOf } from '../testdata/fake-source.ts'
import type { Change } from './change.ts'
import type { EventHandler } from './event-handler.ts'
import { SharedInformer, type SharedInformerOptions } from './shared-informer.ts'

const informers: SharedInformer<KubeObject>[] = []
afterEach(async () => {
  for (const informer of informers.splice(0)) await informer.stop()
})

// Whether the source returns encoded objects.
let encodes = false

function setUp(options: Partial<SharedInformerOptions<KubeObject>> = {}) {
  const clock = new VirtualClock()
  const source = new FakeSource()
  source.encodes = encodes
  const log = memoryLogger(0)
  const resource = { group: 'example.com', version: 'v1', resource: 'things' }
  const informer = new SharedInformer<KubeObject>({ source, resource, clock, random: seededRandom(1), log, ...options })
  informers.push(informer)
  return { clock, source, log, informer }
}

function recorder(): EventHandler<KubeObject> & { readonly calls: string[] } {
  const calls: string[] = []
  const version = (object: KubeObject): string => `${object.metadata.name}@${object.metadata.resourceVersion}`
  return {
    calls,
    onAdd: (object, { isInInitialList }) =>
      void calls.push(`add ${version(object)}${isInInitialList ? ' initial' : ''}`),
    onUpdate: (before, after, { isResync }) =>
      void calls.push(`update ${version(before)} ${version(after)}${isResync ? ' resync' : ''}`),
    onDelete: (object, { finalStateUnknown }) =>
      void calls.push(`delete ${version(object)}${finalStateUnknown ? ' unknown' : ''}`),
  }
}

describe.each([
  ['parsed', false],
  ['encoded', true],
])('SharedInformer of %s objects', (_, asBytes) => {
  beforeEach(() => {
    encodes = asBytes
  })

  test('delivers the initial list as such, then every change, in order', async () => {
    const { clock, source, informer } = setUp()
    source.set('b')
    source.set('a')
    const handler = recorder()
    const registration = informer.addHandler(handler)
    expect([informer.hasSynced, registration.hasSynced]).toEqual([false, false])
    informer.start()
    await clock.advance(0)
    await registration.synced
    source.set('c')
    source.set('a')
    source.set('a')
    source.remove('b')
    await clock.advance(0)
    expect(handler.calls).toEqual([
      'add a@3 initial',
      'add b@2 initial',
      'add c@4',
      'update a@3 a@5',
      'update a@5 a@6',
      'delete b@7',
    ])
    expect([informer.hasSynced, registration.hasSynced]).toEqual([true, true])
  })

  test('stop() cancels resync timers', async () => {
    const { clock, informer } = setUp()
    informer.addHandler({}, { resyncPeriod: '30s' })
    informer.start()
    await clock.advance(0)
    await informer.stop()
    informer.addHandler({}, { resyncPeriod: '30s' })
    expect(clock.pending).toEqual([])
  })

  test('seed() delivers a deletion for a seeded object that the first list does not contain', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    const handler = recorder()
    informer.addHandler(handler)
    informer.seed([objectOf('gone', 1, { namespace: 'ns' }), objectOf('a', 1, { namespace: 'ns' })])
    expect(informer.store.keys()).toEqual(['ns/a', 'ns/gone'])
    informer.start()
    await clock.advance(0)
    expect(handler.calls).toEqual(['delete gone@1 unknown', 'update a@1 a@2'])
    expect(() => informer.seed([])).toThrow('it was started')
  })

  test('announce() delivers an announced object that a list shows to be gone', async () => {
    const { clock, source, informer } = setUp()
    const handler = recorder()
    informer.addHandler(handler)
    informer.start()
    await clock.advance(0)
    // The watch ends, and its successors fail, while this process creates objects and others delete some of them.
    source.fault = () => {
      throw new Error('unreachable')
    }
    source.cut()
    for (const name of ['gone', 'kept', 'recreated']) informer.announce(source.set(name))
    source.removeUnseen('gone')
    source.removeUnseen('recreated')
    source.set('recreated', { uid: 'another' })
    source.compacted = source.version
    await clock.advance('1m')
    expect(handler.calls).toEqual([])
    source.fault = () => undefined
    await clock.advance('1m')
    expect(handler.calls).toEqual([
      ...['add gone@2', 'delete gone@2 unknown', 'add recreated@4', 'delete recreated@4 unknown'],
      ...['add kept@3', 'add recreated@7'],
    ])
    source.compacted = ++source.version
    source.cut()
    await clock.advance('1m')
    expect(handler.calls).toHaveLength(6)
  })

  test('announce() has no effect for an object that the watch delivers', async () => {
    const { clock, source, informer } = setUp()
    const handler = recorder()
    informer.addHandler(handler)
    informer.start()
    await clock.advance(0)
    source.set('a')
    source.remove('a')
    const object = source.set('a')
    informer.announce(object)
    await clock.advance(0)
    informer.announce(object)
    source.remove('a')
    source.compacted = ++source.version
    source.cut()
    await clock.advance('1m')
    expect(handler.calls).toEqual(['add a@2', 'delete a@3', 'add a@4', 'delete a@5'])
  })

  test('addHandler() delivers all objects as initial to a late handler, without missing a change', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    informer.start()
    await informer.synced()
    const handler = recorder()
    const registration = informer.addHandler(handler)
    source.set('a')
    await clock.advance(0)
    expect(handler.calls).toEqual(['add a@2 initial', 'update a@2 a@3'])
    expect(registration.hasSynced).toBe(true)
  })

  test('delivers deletions that a list reveals as tombstones, and nothing for unchanged objects', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    source.set('b')
    const handler = recorder()
    informer.addHandler(handler)
    informer.start()
    await clock.advance(5000)
    handler.calls.length = 0
    source.removeUnseen('a')
    source.compacted = 1000
    source.cut()
    await clock.advance(5000)
    expect(handler.calls).toEqual(['delete a@2 unknown'])
  })

  test('updates the store, as a whole for a list, before it calls handlers', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    source.set('b')
    const sizes: number[] = []
    informer.addHandler({ onAdd: () => void sizes.push(informer.store.size) })
    informer.start()
    await clock.advance(0)
    expect(sizes).toEqual([2, 2])
  })

  test('resyncs only handlers with a resync period, without any request', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    const [eager, calm] = [recorder(), recorder()]
    const registration = informer.addHandler(eager, { resyncPeriod: '30s' })
    informer.addHandler(calm)
    informer.start()
    await clock.advance(61_000)
    expect(eager.calls).toEqual(['add a@2 initial', 'update a@2 a@2 resync', 'update a@2 a@2 resync'])
    expect(calm.calls).toEqual(['add a@2 initial'])
    expect(source.requests).toHaveLength(1)
    registration.remove()
  })

  test('joins the changes of a key for a slow handler, which still receives the last state', async () => {
    const { clock, source, informer } = setUp()
    informer.start()
    await informer.synced()
    const handler = recorder()
    const { onUpdate } = handler
    let release: () => void = () => undefined
    const slow: EventHandler<KubeObject> = {
      ...handler,
      onAdd: () => new Promise((resolve) => (release = resolve)),
      onUpdate: (...args) => onUpdate?.(...args),
    }
    const registration = informer.addHandler(slow, { coalesceAfter: 1 })
    source.set('first')
    await clock.advance(0)
    for (let i = 0; i < 1000; i++) source.set('first')
    source.set('fleeting')
    source.remove('fleeting')
    await clock.advance(3000)
    expect(registration.pending).toBeLessThanOrEqual(3)
    expect(registration.lag).toBe(3000)
    release()
    await clock.advance(0)
    expect(handler.calls).toEqual(['update first@2 first@1002'])
    expect([registration.pending, registration.lag]).toEqual([0, 0])
  })

  test('logs errors of a handler and continues', async () => {
    const { clock, source, informer, log } = setUp()
    const handler = recorder()
    const failing: EventHandler<KubeObject> = {
      ...handler,
      onAdd(object, info) {
        if (object.metadata.name === 'bad') throw new Error('boom')
        return handler.onAdd?.(object, info)
      },
    }
    source.set('bad')
    source.set('good')
    const registration = informer.addHandler(failing)
    informer.start()
    await clock.advance(0)
    await registration.synced
    expect(handler.calls).toEqual(['add good@3 initial'])
    expect(log.records).toMatchObject([{ message: 'Event handler failed', values: { key: 'ns/bad' } }])
  })

  test('stores transformed objects', async () => {
    const transform = (object: KubeObject): KubeObject => ({ ...object, kind: 'Lean' })
    const { source, informer } = setUp({ transform })
    source.set('a')
    informer.start()
    await informer.synced()
    expect(informer.store.get('ns/a')?.kind).toBe('Lean')
  })

  test('drops managed fields, and nothing else, with dropManagedFields', async () => {
    const { source, informer } = setUp({ dropManagedFields: true })
    const managedFields = [{ manager: 'me', operation: 'Update' as const }]
    const { metadata } = source.set('a', { labels: { app: 'x' }, managedFields })
    informer.start()
    await informer.synced()
    const { managedFields: _fields, ...rest } = metadata
    expect(informer.store.get('ns/a')?.metadata).toEqual(rest)
  })

  test('changes that a handler keeps have the objects of their time when they are read later', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    source.set('b')
    const kept: Change<KubeObject>[] = []
    // The first calls wait, so that the store receives further versions meanwhile.
    const waiting = [new Deferred(), new Deferred()]
    informer.addHandler({
      onChange: (change) => {
        kept.push(change)
        return waiting[kept.length - 1]?.promise
      },
    })
    informer.start()
    for (const deferred of waiting) {
      await clock.advance(0)
      source.set('a')
      source.set('b')
      await clock.advance(0)
      deferred.resolve()
    }
    await clock.advance(0)
    source.set('a')
    await clock.advance(0)
    const versions = kept.map(({ key, before, after }) => {
      return `${key} ${before?.metadata.resourceVersion ?? ''}>${after?.metadata.resourceVersion}`
    })
    expect(versions).toEqual(['ns/a >2', 'ns/b >3', 'ns/a 2>4', 'ns/b 3>5', 'ns/a 4>6', 'ns/b 5>7', 'ns/a 6>8'])
  })

  test('calls onChange instead of the other methods', async () => {
    const { clock, source, informer } = setUp()
    const calls: string[] = []
    const fail = (): never => {
      throw new Error('called as well')
    }
    informer.addHandler({
      onChange: ({ type, key, before, after, initial }) => {
        const versions = `${before?.metadata.resourceVersion ?? '-'}>${after?.metadata.resourceVersion ?? '-'}`
        calls.push(`${type} ${key} ${versions}${initial ? ' initial' : ''}`)
      },
      onAdd: fail,
      onUpdate: fail,
      onDelete: fail,
    })
    source.set('a')
    informer.start()
    await clock.advance(0)
    source.set('a')
    source.remove('a')
    await clock.advance(0)
    expect(calls).toEqual(['add ns/a ->2 initial', 'update ns/a 2>3', 'delete ns/a 3>-'])
  })

  test('does not parse objects that no handler reads', async () => {
    const { clock, source, informer } = setUp()
    const keys: string[] = []
    informer.addHandler({ onChange: ({ key, type }) => void keys.push(`${type} ${key}`) })
    informer.addHandler({ onDelete: () => undefined })
    source.set('a')
    informer.start()
    await clock.advance(0)
    source.set('a')
    source.set('b')
    await clock.advance(0)
    expect(keys).toEqual(['add ns/a', 'update ns/a', 'add ns/b'])
    expect(informer.stats.parsed).toBe(0)
    informer.store.get('ns/b')
    expect(informer.stats.parsed).toBe(asBytes ? 1 : 0)
  })

  test('stores and logs an object for which an index function throws', async () => {
    const picky = ({ metadata: { name } }: KubeObject): string[] => {
      if (name === 'bad') throw new Error('boom')
      return [name]
    }
    const { source, informer, log } = setUp({ indexers: { picky } })
    source.set('bad')
    source.set('good')
    informer.start()
    await informer.synced()
    expect(informer.store.keys()).toEqual(['ns/bad', 'ns/good'])
    expect(informer.store.indexValues('picky')).toEqual(['good'])
    expect(log.records).toMatchObject([{ message: 'Index function failed', values: { index: 'picky', key: 'ns/bad' } }])
  })

  test('reports metrics of its store, its queue and its handlers', async () => {
    const values = new Map<string, number>()
    const metrics: MetricSink = {
      add: (name, _labels, amount) => void values.set(name, (values.get(name) ?? 0) + amount),
      set: (name, labels, value) => void values.set(`${name}{${labels.handler ?? labels.resource}}`, value),
      observe: (name) => void values.set(name, (values.get(name) ?? 0) + 1),
    }
    const { clock, source, informer } = setUp({ metrics })
    source.set('a')
    informer.addHandler({ onAdd: () => Promise.reject(new Error('boom')) }, { name: 'failing' })
    informer.start()
    await clock.advance(0)
    expect(Object.fromEntries(values)).toEqual({
      'informer_queued_items{things}': 0,
      'informer_store_resource_version{things}': 2,
      'kubewright_informer_store_objects{things}': 1,
      'kubewright_informer_handler_pending{failing}': 0,
      kubewright_informer_handler_lag_seconds: 1,
      kubewright_informer_handler_errors_total: 1,
      kubewright_informer_relists_total: 1,
      'kubewright_informer_store_bytes{things}': encodes ? 2 * 1024 : 0,
    })
  })

  test('remove() stops the delivery and rejects a pending sync', async () => {
    const { clock, source, informer } = setUp()
    const handler = recorder()
    const registration = informer.addHandler(handler)
    registration.remove()
    await expect(registration.synced).rejects.toThrow('Handler was removed before it received the initial list')
    source.set('a')
    informer.start()
    await clock.advance(0)
    expect([handler.calls, informer.handlers]).toEqual([[], 0])
  })

  test('stop() ends everything, keeps the store, and prevents another start', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    informer.start()
    await informer.synced()
    await informer.stop()
    expect([clock.pending, source.watches, informer.health.state]).toEqual([[], [], 'stopped'])
    expect(informer.store.size).toBe(1)
    expect(() => informer.start()).toThrow('Cannot start informer of things.example.com: it was stopped')
  })

  test('stop() rejects pending calls of synced()', async () => {
    const { source, informer } = setUp()
    source.sendsBookmarks = false
    informer.start()
    const waiting = informer.synced()
    await Promise.all([
      informer.stop(),
      expect(waiting).rejects.toThrow('Informer of things.example.com was stopped before it had synced'),
    ])
  })
})
