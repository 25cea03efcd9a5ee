import { type KubeObject, keyOf } from '@kubewright/api'
import { nullLogger, systemClock } from '@kubewright/base'
import { Pod, Service } from '@kubewright/k8s'
import { type CacheLease, type ControllerParts, Indexer, type KeySink } from '@kubewright/runtime'
import { expect, test } from 'vitest'
import { joinedSource } from './joined-source.ts'

/** A cache whose stores the test fills, and that counts its leases. */
class FakeCache {
  readonly stores = new Map<string, Indexer<KubeObject>>()
  readonly deliver: ((object: KubeObject) => void)[] = []
  leases = 0

  use({ kind }: { readonly kind: string }): CacheLease {
    this.leases++
    const store = this.stores.get(kind) ?? new Indexer<KubeObject>()
    this.stores.set(kind, store)
    const lease: Partial<CacheLease> = {
      store,
      release: async () => void this.leases--,
      addHandler: (handler) => {
        this.deliver.push((after) => {
          const change = { type: 'add', key: keyOf(after), before: undefined, after, sync: false, initial: false }
          void handler.onChange?.(change as never)
        })
        return { synced: Promise.resolve(), remove: () => undefined } as never
      },
    }
    return lease as CacheLease
  }
}

const object = (kind: string, name: string): KubeObject => ({
  apiVersion: 'v1',
  kind,
  metadata: {
    name,
    namespace: 'a',
    uid: name,
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    generation: 1,
  },
})

test('joinedSource() reads other kinds from the cache, without a promise, once they are listed', async () => {
  const cache = new FakeCache()
  const added: string[] = []
  const sink = { controller: 'test', add: (key: string) => void added.push(key) } as KeySink
  const source = joinedSource(Pod, [Service], (cached) => ({
    name: 'Pod (joined)',
    map: () => cached(Service)?.list().map(keyOf) ?? ['not listed'],
  }))
  expect([source.name, source.kind]).toEqual(['Pod (joined)', Pod])
  const parts = { cluster: { cache, client: {} }, clock: systemClock, log: nullLogger }
  const running = source.start(sink, parts as unknown as ControllerParts)
  expect(cache.leases).toBe(2)
  cache.deliver[0]!(object('Pod', 'p'))
  expect(added).toEqual(['not listed'])
  cache.stores.get('Service')!.replace([object('Service', 's')], '7')
  cache.deliver[0]!(object('Pod', 'p'))
  expect(added).toEqual(['not listed', 'a/s'])
  await running[Symbol.asyncDispose]()
  expect(cache.leases).toBe(0)
})
