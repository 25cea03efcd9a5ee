import { createKind, type KubeObject, newForbidden, parseSelector } from '@kubewright/api'
import { nullLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { metadataOnly } from '@kubewright/client'
import { describe, expect, test } from 'vitest'
import { FakeSource } from '../testdata/fake-source.ts'
import { type InformerScope, SharedInformerFactory } from './shared-informer-factory.ts'

const Thing = createKind<KubeObject, KubeObject>({
  group: 'example.com',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  schema: () => ({ type: 'object' }),
})

function setUp() {
  const clock = new VirtualClock()
  const sources: { readonly scope: InformerScope; readonly source: FakeSource }[] = []
  const factory = new SharedInformerFactory({
    clock,
    random: seededRandom(1),
    log: nullLogger,
    source(_kind, scope) {
      const source = new FakeSource()
      source.set('a', { labels: { app: 'x' } })
      sources.push({ scope, source })
      return source
    },
  })
  return { clock, factory, sources }
}

describe('SharedInformerFactory', () => {
  test('use() shares an informer between leases of equal scope, and only those', async () => {
    const { factory, sources } = setUp()
    const first = factory.use(Thing)
    const second = factory.use(Thing)
    const other = factory.use(Thing, { namespace: 'ns', labelSelector: 'app=x' })
    expect(first.informer).toBe(second.informer)
    expect(other.informer).not.toBe(first.informer)
    expect(sources.map(({ scope }) => scope)).toEqual([{}, { namespace: 'ns', labelSelector: 'app=x' }])
    await factory.shutDown()
  })

  test('use() applies the scope of the factory, which a use may narrow', async () => {
    const scopes: InformerScope[] = []
    const source = (_: unknown, scope: InformerScope) => {
      scopes.push(scope)
      return new FakeSource()
    }
    await using factory = new SharedInformerFactory({ source, scope: { namespace: 'ns', labelSelector: 'app=x' } })
    factory.use(Thing)
    factory.use(Thing, { fieldSelector: 'metadata.name=a' })
    factory.use(Thing, { namespace: 'other' })
    expect(scopes).toEqual([
      { namespace: 'ns', labelSelector: 'app=x' },
      { namespace: 'ns', labelSelector: 'app=x', fieldSelector: 'metadata.name=a' },
      { namespace: 'other', labelSelector: 'app=x' },
    ])
  })

  test('use() of a metadata-only kind shares a full informer, or creates one for metadata', async () => {
    const { factory } = setUp()
    const metadata = factory.use(metadataOnly(Thing))
    const full = factory.use(Thing)
    expect(full.informer).not.toBe(metadata.informer)
    expect(factory.use(metadataOnly(Thing)).informer).toBe(full.informer)
    expect([...factory.health.keys()]).toEqual(['things.example.com v1', 'things.example.com v1, metadata'])
    await factory.shutDown()
  })

  test('resyncPeriod of the factory is the default for handlers', async () => {
    const clock = new VirtualClock()
    const source = () => {
      const things = new FakeSource()
      things.set('a')
      return things
    }
    await using factory = new SharedInformerFactory({ source, clock, resyncPeriod: '30s' })
    const { addHandler } = factory.use(Thing)
    const calls: string[] = []
    addHandler({ onUpdate: (_, { metadata }, { isResync }) => void calls.push(`${metadata.name} ${isResync}`) })
    addHandler({ onUpdate: () => void calls.push('slow') }, { resyncPeriod: '10m' })
    factory.start()
    await clock.advance('31s')
    expect(calls).toEqual(['a true'])
  })

  test('new SharedInformerFactory() requires a client or a source', () => {
    expect(() => new SharedInformerFactory({})).toThrow("pass a 'client' or a 'source'")
  })

  test('release() of the last lease stops the watch; earlier ones only remove their handlers', async () => {
    const { clock, factory, sources } = setUp()
    factory.start()
    const first = factory.use(Thing)
    const second = factory.use(Thing)
    first.addHandler({})
    second.addHandler({})
    await clock.advance(0)
    const source = sources[0]?.source
    await first.release()
    await first.release()
    expect([source?.watches.length, second.informer.handlers]).toEqual([1, 1])
    await second.release()
    expect([source?.watches.length, clock.pending, factory.health.size]).toEqual([0, [], 0])
    await using third = factory.use(Thing)
    expect(third.informer).not.toBe(second.informer)
  })

  test('waitForSync() resolves when all informers have their list; listers then read from the store', async () => {
    const { clock, factory } = setUp()
    const { lister } = factory.use(Thing)
    factory.start()
    const syncing = factory.waitForSync({ timeout: '1m' })
    await clock.advance(0)
    await syncing
    expect(lister.namespace('ns').get('a').metadata.name).toBe('a')
    expect(lister.namespace('ns').list(parseSelector('app=x'))).toHaveLength(1)
    expect(lister.list(parseSelector('app=y'))).toEqual([])
    expect([lister.find('a'), lister.namespace('other').find('a')]).toEqual([undefined, undefined])
    expect(() => lister.namespace('ns').get('b')).toThrow('things.example.com "b" not found')
    await factory.shutDown()
  })

  test('waitForSync() rejects with the names, reasons and fixes of informers that have not synced', async () => {
    const { clock, factory, sources } = setUp()
    factory.use(Thing, { namespace: 'ns' })
    const source = sources[0]?.source ?? new FakeSource()
    source.fault = () => {
      throw newForbidden({ group: 'example.com', resource: 'things' }, '', 'no RBAC')
    }
    factory.start()
    const syncing = factory.waitForSync({ timeout: '1m' })
    const failure = expect(syncing).rejects.toThrow(
      'Informers have not synced within 1m0s: things.example.com v1, namespace ns: Cannot list things.example.com in namespace ' +
        '"ns": things.example.com is forbidden: no RBAC (Grant this client the verbs list and watch on things.example.com, ' +
        'for example with a Role in namespace "ns" and a binding)',
    )
    await clock.advance(60_000)
    await failure
    expect(factory.health.get('things.example.com v1, namespace ns')?.state).toBe('failing')
    await factory.shutDown()
  })
})
