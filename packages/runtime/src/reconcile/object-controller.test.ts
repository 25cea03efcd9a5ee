import { condition, hasFinalizer, isConflict, keyOf } from '@kubewright/api'
import { ConfigMap, Secret } from '@kubewright/k8s'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Controller, defineController } from '../define/define-controller.ts'
import { owned, watch } from '../define/watched-kinds.ts'
import { objectController } from './object-controller.ts'
import { type Bench, type SentRequest, startBench } from './testdata/bench.ts'
import { Home } from './testdata/home.ts'

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
})
afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

const finalizer = 'homes.ajd.example.com/home'
const homePath = '/apis/ajd.example.com/v1/namespaces/default/homes/cosy'
const create = (name = 'cosy') => bench.client.create(Home({ metadata: { name }, spec: { image: 'nginx:1.27' } }))
const find = () => bench.client.find(Home, 'cosy')
const remove = () => bench.client.delete(Home, 'cosy')

/** A controller that changes something outside the cluster, and reverts it in cleanup. */
function dnsController(records: Set<string>, calls: string[] = []): Controller {
  return defineController(Home, {
    reconcile(home) {
      calls.push(`reconcile ${home.metadata.finalizers?.join() ?? ''}`)
      records.add(home.metadata.name)
    },
    cleanup(home) {
      calls.push(`cleanup ${home.metadata.finalizers?.join() ?? ''}`)
      records.delete(home.metadata.name)
    },
  })
}

describe('objectController()', () => {
  test('returns a key controller with the sources and settings of the controller', () => {
    const controller = defineController(Home, {
      name: 'homes',
      owns: [owned(ConfigMap, { metadataOnly: true })],
      watches: [watch(Secret, () => [])],
      concurrency: 3,
      timeout: '10s',
      needsLeader: false,
      reconcile: () => undefined,
    })
    const { name, kind, sources, concurrency, timeout, needsLeader } = objectController(controller)
    expect([name, kind, concurrency, timeout, needsLeader]).toEqual(['homes', Home, 3, '10s', false])
    expect(sources.map((source) => source.name)).toEqual(['Home', 'ConfigMap (owned)', 'Secret (watched)'])
  })

  test('does nothing for a key whose object is gone', async () => {
    const calls: string[] = []
    await bench.run(dnsController(new Set(), calls))('default/gone')
    expect([calls, bench.writes()]).toEqual([[], []])
  })

  test('passes a deeply frozen object to the reconciler', async () => {
    await create()
    let frozen: unknown
    const controller = defineController(Home, {
      reconcile(home) {
        frozen = [Object.isFrozen(home), Object.isFrozen(home.spec), Object.isFrozen(home.metadata)]
      },
    })
    await bench.run(controller)('default/cosy')
    expect(frozen).toEqual([true, true, true])
  })

  test('ignores objects outside its namespaces and selector, whatever added their key', async () => {
    await create()
    const calls: string[] = []
    const reconcile = (home: Home): void => void calls.push(home.metadata.name)
    await bench.run(defineController(Home, { namespaces: ['elsewhere'], reconcile }))('default/cosy')
    await bench.run(defineController(Home, { selector: 'tier=gold', reconcile }))('default/cosy')
    expect(calls).toEqual([])
    await bench.run(defineController(Home, { selector: '!tier', namespaces: ['default'], reconcile }))('default/cosy')
    expect(calls).toEqual(['cosy'])
  })

  test('does not clean up objects that it does not select', async () => {
    const calls: string[] = []
    await bench.client.create(
      Home({ metadata: { name: 'cosy', finalizers: [finalizer], labels: { tier: 'gold' } }, spec: { image: 'a' } }),
    )
    await remove()
    const cleanup = (): void => void calls.push('cleanup')
    await bench.run(defineController(Home, { selector: 'tier!=gold', reconcile: cleanup, cleanup }))('default/cosy')
    await bench.run(defineController(Home, { namespaces: ['b'], reconcile: cleanup, cleanup }))('default/cosy')
    expect([calls, bench.writes()]).toEqual([[], []])
    await bench.run(defineController(Home, { selector: 'tier=gold', reconcile: cleanup, cleanup }))('default/cosy')
    expect([calls, await find()]).toEqual([['cleanup'], undefined])
  })

  test('returns requeueAfter', async () => {
    await create()
    const controller = defineController(Home, { reconcile: () => ({ requeueAfter: '5m' }) })
    expect(await bench.run(controller)('default/cosy')).toEqual({ requeueAfter: '5m' })
  })

  test('passes a context whose members can be destructured', async () => {
    await create()
    let seen: unknown
    const controller = defineController(Home, {
      reconcile(_, { event, causes, reconcileID, signal, log, client }) {
        event('Normal', 'Synced', 'Home synced successfully')
        log.info('hello')
        seen = [causes, reconcileID.length, signal.aborted, typeof client.get]
      },
    })
    await bench.run(controller)('default/cosy')
    expect(seen).toEqual([[], 36, false, 'function'])
    expect(bench.events.map(({ regarding, note }) => [regarding.metadata.name, note])).toEqual([
      ['cosy', { type: 'Normal', reason: 'Synced', message: 'Home synced successfully' }],
    ])
  })
})

describe('cleanup', () => {
  test('adds the finalizer before the first reconcile, and removes it afterwards', async () => {
    const records = new Set<string>()
    const calls: string[] = []
    const reconcile = bench.run(dnsController(records, calls))
    await create()
    await reconcile('default/cosy')
    expect([calls, [...records], bench.writes()]).toEqual([[`reconcile ${finalizer}`], ['cosy'], [`PATCH ${homePath}`]])
    await remove()
    await reconcile('default/cosy')
    expect([calls.at(-1), [...records], await find()]).toEqual([`cleanup ${finalizer}`, [], undefined])
    expect(bench.writes()).toEqual([`PATCH ${homePath}`])
  })

  test('is not called for an object that never had the finalizer', async () => {
    const calls: string[] = []
    await bench.client.create(
      Home({ metadata: { name: 'cosy', finalizers: ['example.com/other'] }, spec: { image: 'a' } }),
    )
    await remove()
    await bench.run(dnsController(new Set(), calls))('default/cosy')
    expect([calls, bench.writes()]).toEqual([[], []])
  })

  test('keeps the object while it returns requeueAfter, and while it throws', async () => {
    let answer: () => { requeueAfter: '10s' } | undefined = () => ({ requeueAfter: '10s' })
    const reconcile = bench.run(defineController(Home, { reconcile: () => undefined, cleanup: () => answer() }))
    await create()
    await reconcile('default/cosy')
    await remove()
    expect(await reconcile('default/cosy')).toEqual({ requeueAfter: '10s' })
    answer = () => {
      throw new Error('DNS is down')
    }
    await expect(reconcile('default/cosy')).rejects.toThrow('DNS is down')
    expect(hasFinalizer((await find())!, finalizer)).toBe(true)
    answer = () => undefined
    await reconcile('default/cosy')
    expect(await find()).toBeUndefined()
  })

  test('removes the finalizer of an earlier version when the controller no longer has a cleanup', async () => {
    await create()
    await bench.run(dnsController(new Set()))('default/cosy')
    await remove()
    await bench.run(defineController(Home, { reconcile: () => undefined }))('default/cosy')
    expect(await find()).toBeUndefined()
  })

  test('never removes finalizers of others: adding one conflicts when the object has changed', async () => {
    await create()
    const reconcile = bench.run(dnsController(new Set()))
    bench.before = once('PATCH', () => patchFinalizers(['example.com/other']))
    const failure = await reconcile('default/cosy').catch((error: unknown) => error)
    expect(isConflict(failure)).toBe(true)
    await reconcile('default/cosy')
    expect((await find())?.metadata.finalizers).toEqual(['example.com/other', finalizer])
  })

  test('removes its own entry even when others have moved it', async () => {
    await create()
    const reconcile = bench.run(dnsController(new Set()))
    await reconcile('default/cosy')
    await patchFinalizers(['example.com/first', finalizer, 'example.com/last'])
    await remove()
    bench.before = once('PATCH', () => patchFinalizers([finalizer, 'example.com/last']))
    await reconcile('default/cosy')
    expect((await find())?.metadata.finalizers).toEqual(['example.com/last'])
  })

  test('accepts that the object is gone, or was replaced by another with the same name', async () => {
    await create()
    const reconcile = bench.run(dnsController(new Set()))
    await reconcile('default/cosy')
    await remove()
    bench.before = once('PATCH', async () => {
      await patchFinalizers([])
      await bench.client.create(
        Home({ metadata: { name: 'cosy', finalizers: [finalizer] }, spec: { image: 'another' } }),
      )
    })
    await reconcile('default/cosy')
    expect((await find())?.metadata.finalizers).toEqual([finalizer])
  })

  // Each run is interrupted at another request: before it is sent, or before its response arrives. A new process
  // continues.
  test.each(['before', 'after'] as const)('converges when the process dies %s any of its requests', async (moment) => {
    const requests: number[] = []
    for (let deadly = 0; ; deadly++) {
      const records = new Set<string>()
      const controller = fullController(records)
      await create()
      let crashed = await runUntilCrash(controller, deadly, moment)
      // External state never exists without the finalizer that ensures its cleanup.
      expect(records.size === 0 || hasFinalizer((await find())!, finalizer)).toBe(true)
      await bench.run(controller)('default/cosy')
      requests.push(bench.requests.splice(0).length)
      const { status } = (await find())!
      const maps = await bench.client.list(ConfigMap)
      expect([[...records], status?.readyReplicas, maps.map(keyOf)]).toEqual([['cosy'], 2, ['default/a', 'default/b']])
      await remove()
      crashed = (await runUntilCrash(controller, deadly, moment)) || crashed
      await bench.run(controller)('default/cosy')
      expect([[...records], await find()]).toEqual([[], undefined])
      // This server has no garbage collector.
      for (const map of maps) await bench.client.delete(ConfigMap, map.metadata.name)
      if (!crashed) break
    }
    // Each request was interrupted in some run: reads, finalizer, two children, status.
    expect(requests.length).toBeGreaterThan(7)
  })

  function fullController(records: Set<string>): Controller {
    return defineController(Home, {
      owns: [ConfigMap],
      prune: true,
      async reconcile(home, { apply }) {
        records.add(home.metadata.name)
        for (const name of ['a', 'b']) await apply(ConfigMap({ metadata: { name }, data: { name } }))
        return { status: { readyReplicas: 2, conditions: [condition('Ready', true, 'Done')] } }
      },
      cleanup(home) {
        records.delete(home.metadata.name)
      },
    })
  }

  async function runUntilCrash(controller: Controller, deadly: number, moment: 'before' | 'after'): Promise<boolean> {
    let requests = 0
    bench[moment] = () => {
      if (requests++ === deadly) throw new Error('killed')
    }
    try {
      await bench.run(controller)('default/cosy')
      return false
    } catch {
      return true
    } finally {
      bench[moment] = () => undefined
    }
  }

  const patchFinalizers = async (finalizers: string[]) => {
    await bench.client.patch(Home, 'cosy', { metadata: { finalizers } })
  }

  function once(method: string, action: () => Promise<unknown>): (request: SentRequest) => Promise<void> {
    let done = false
    return async ({ text }) => {
      if (done || !text.startsWith(method)) return
      done = true
      await action()
    }
  }
})

describe('reconcileDeleting', () => {
  test('calls reconcile for objects that are being deleted, with children and status, and adds no finalizer', async () => {
    const seen: string[] = []
    const controller = defineController(Home, {
      owns: [ConfigMap],
      reconcileDeleting: true,
      async reconcile(home, { apply }) {
        const phase = home.metadata.deletionTimestamp === undefined ? 'live' : 'deleting'
        seen.push(phase)
        await apply(ConfigMap({ metadata: { name: 'phase' }, data: { phase } }))
        return { status: { readyReplicas: phase === 'live' ? 1 : 0 } }
      },
    })
    const reconcile = bench.run(controller)
    await bench.client.create(
      Home({ metadata: { name: 'cosy', finalizers: ['example.com/other'] }, spec: { image: 'a' } }),
    )
    await reconcile('default/cosy')
    await remove()
    await reconcile('default/cosy')
    const home = (await find())!
    const { data } = await bench.client.get(ConfigMap, 'phase')
    expect([seen, home.metadata.finalizers, home.status?.readyReplicas, data]).toEqual([
      ['live', 'deleting'],
      ['example.com/other'],
      0,
      { phase: 'deleting' },
    ])
  })

  test('removes the finalizer of an earlier version of the controller instead', async () => {
    const calls: string[] = []
    await create()
    await bench.run(dnsController(new Set()))('default/cosy')
    await remove()
    const reconcile = (home: Home): void => void calls.push(home.metadata.name)
    await bench.run(defineController(Home, { reconcileDeleting: true, reconcile }))('default/cosy')
    expect([calls, await find()]).toEqual([[], undefined])
  })

  test('is refused together with cleanup', () => {
    const options = { reconcileDeleting: true, reconcile: () => undefined, cleanup: () => undefined }
    expect(() => defineController(Home, options)).toThrow("'reconcileDeleting' excludes 'cleanup'")
  })
})
