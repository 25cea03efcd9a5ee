import { Deferred } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { defineKeyController } from '../controller/key-controller.ts'
import { kindSource } from '../controller/sources/kind-source.ts'
import { Home, objectOf } from '../controller/testdata/test-parts.ts'
import { createManager } from './create-manager.ts'
import { ManagerScene, until } from './testdata/manager-scene.ts'
import { pushed } from './testdata/pushed.ts'

describe('Manager.start(), order of the parts', () => {
  test('starts servers, webhooks, cache, others, warm-up, election and leader; stops in reverse order, and releases the lease last', async () => {
    const scene = new ManagerScene()
    const { said, clock } = scene
    const { manager, start, stop, outcome } = scene.replica({
      leaderElection: true,
      serveWebhooks: () => scene.part('webhooks', 'webhook', { announcesReady: true }),
    })
    manager.add({ ...scene.part('leader', 'leader'), warmUp: async () => void said.push('warm up leader') })
    for (const phase of ['other', 'cache', 'server'] as const) manager.add(scene.part(phase, phase))
    void manager.elected.then(() => said.push('elected'))
    start()
    await clock.advance('1s')
    expect(manager.describe()).toMatchObject({
      phase: 'running',
      leaderElection: { lease: 'default/test', holder: 'replica-1', leading: true },
      runnables: ['server', 'webhooks', 'cache', 'other', 'leader'],
    })
    stop()
    await clock.advance('1s')
    expect(outcome()).toBe('stopped')
    expect(said).toEqual([
      ...['start server', 'start webhooks', 'start cache', 'start other', 'warm up leader'],
      ...['event replica-1 became leader', 'elected', 'start leader'],
      ...['end other', 'end leader', 'end cache', 'end webhooks', 'end server', 'event replica-1 stopped leading'],
    ])
    expect(scene.world.leases[0]?.spec.holderIdentity).toBe('')
  })

  test('starts a phase when the runnables of the previous one that announce readiness are ready', async () => {
    const scene = new ManagerScene()
    const ready = new Deferred()
    const { manager, start } = scene.replica()
    const slow = scene.part('slow', 'server', {
      announcesReady: true,
      run: async (context) => {
        await ready.promise
        context.ready()
        await until(context.drain)
      },
    })
    manager.add(slow)
    manager.add(scene.part('next', 'webhook'))
    start()
    await scene.clock.advance('1m')
    expect(scene.said).toEqual([])
    ready.resolve()
    await scene.clock.advance(0)
    expect(scene.said).toEqual(['start next'])
  })

  test('starts an added runnable at once if its phase has started, otherwise with its phase', async () => {
    const scene = new ManagerScene()
    const first = scene.replica({ leaderElection: true })
    first.start()
    await scene.clock.advance('1s')
    const { manager, start, stop } = scene.replica({ leaderElection: true })
    start()
    await scene.clock.advance('1s')
    manager.add(scene.part('other', 'other'))
    manager.add(scene.part('leader', 'leader'))
    await scene.clock.advance(0)
    expect(scene.said.filter((line) => line.startsWith('start'))).toEqual(['start other'])
    first.stop()
    await scene.clock.advance('5s')
    expect(scene.said.filter((line) => line.startsWith('start'))).toEqual(['start other', 'start leader'])
    stop()
    await scene.clock.advance('1s')
    expect(() => manager.add(scene.part('late', 'other'))).toThrow(
      "can't accept new runnable as stop procedure is already engaged",
    )
  })

  test('can be called once', async () => {
    const scene = new ManagerScene()
    const { manager, start } = scene.replica()
    start()
    const { signal } = new AbortController()
    await expect(manager.start({ signal })).rejects.toMatchObject({
      code: 'KW_MANAGER_STARTED',
      message: expect.stringContaining('manager already started'),
    })
  })

  test('stops the started parts when the signal aborts during the start', async () => {
    const scene = new ManagerScene()
    const { manager, start, stop, outcome } = scene.replica()
    manager.add(scene.part('server', 'server'))
    manager.add(scene.part('never ready', 'webhook', { announcesReady: true, run: ({ drain }) => until(drain) }))
    manager.add(scene.part('leader', 'leader'))
    start()
    await scene.clock.advance('1s')
    stop()
    await scene.clock.advance(0)
    expect(outcome()).toBe('stopped')
    expect(scene.said).toEqual(['start server', 'end server'])
  })

  test('starts nothing when the signal has aborted before', async () => {
    const scene = new ManagerScene()
    const { manager, start, stop, outcome } = scene.replica({ leaderElection: true, sharding: true })
    manager.add(scene.part('server', 'server'))
    stop()
    start()
    await scene.clock.advance('1s')
    expect([outcome(), scene.said, scene.world.leases]).toEqual(['stopped', [], []])
  })

  test('createManager() requires a cluster or a client', () => {
    expect(() => createManager({ name: 'x' })).toThrow(/without a 'cluster': pass one, or a 'client'/)
  })
})

describe('a failure of a runnable', () => {
  test.each([
    ['rejects', async () => Promise.reject(new Error('disk full'))],
    [
      'throws at once',
      () => {
        throw new Error('disk full')
      },
    ],
  ])('ends the manager when it %s, after the others were stopped', async (_, run) => {
    const scene = new ManagerScene()
    const { manager, start, outcome } = scene.replica()
    manager.add(scene.part('server', 'server'))
    manager.add({ name: 'bad', phase: 'other', run })
    start()
    await scene.clock.advance('1s')
    expect(outcome()).toMatchObject({
      code: 'KW_PART_FAILED',
      message: 'bad failed: disk full',
      cause: { message: 'disk full' },
    })
    expect(scene.said).toEqual(['start server', 'end server'])
  })

  test('is not assumed when it ends early without an error', async () => {
    const scene = new ManagerScene()
    const { manager, start, outcome } = scene.replica()
    manager.add({ name: 'once', run: async () => undefined })
    start()
    await scene.clock.advance('1h')
    expect(outcome()).toBeUndefined()
  })

  test('because of a missing kind ends the manager after the sync timeout, and readiness names the reason before', async () => {
    const scene = new ManagerScene()
    const { manager, start, outcome, cluster, checks } = scene.replica()
    cluster.of(Home).health = {
      state: 'failing',
      since: 0,
      failures: 3,
      message: 'homes are not served',
      fix: 'install the CRD',
    }
    manager.add(
      defineKeyController({
        name: 'home',
        sources: [kindSource(Home)],
        syncTimeout: '30s',
        reconcile: () => undefined,
      }),
    )
    start()
    await scene.clock.advance('29s')
    expect(outcome()).toBeUndefined()
    expect(() => checks.get('readyz/controllers')?.(new AbortController().signal)).toThrow(
      /controller "home": .*install the CRD/,
    )
    await scene.clock.advance('2s')
    expect(outcome()).toMatchObject({
      code: 'KW_PART_FAILED',
      message: expect.stringMatching(/"home".*30s.*install the CRD/),
    })
  })

  test('because of a missing kind does not end a degraded manager, whose other controllers work', async () => {
    const scene = new ManagerScene()
    const { manager, start, outcome, cluster, checks } = scene.replica({ degraded: true })
    const reconciled: string[] = []
    const { channel, controller } = pushed((key) => void reconciled.push(key))
    manager.add(
      defineKeyController({
        name: 'home',
        sources: [kindSource(Home)],
        syncTimeout: '30s',
        reconcile: (key) => void reconciled.push(key),
      }),
    )
    manager.add(controller)
    start()
    channel.push('ns/a')
    await scene.clock.advance('11s')
    expect(reconciled).toEqual(['ns/a'])
    await scene.clock.advance('10m')
    expect(outcome()).toBeUndefined()
    cluster.of(Home).put(objectOf(Home, 'late', 1))
    cluster.of(Home).sync()
    await scene.clock.advance('5s')
    expect(reconciled).toEqual(['ns/a', 'ns/late'])
    await checks.get('readyz/controllers')?.(new AbortController().signal)
  })

  test('because of a bug does not end a degraded manager, whose other controllers work', async () => {
    const scene = new ManagerScene()
    const { manager, start, outcome } = scene.replica({ degraded: true })
    const reconciled: string[] = []
    const { channel, controller } = pushed((key) => void reconciled.push(key))
    let attempts = 0
    const failing = () => {
      attempts++
      throw new RangeError('Maximum call stack size exceeded')
    }
    manager.add(
      Object.freeze({
        ...defineKeyController({ name: 'bug', sources: [kindSource(Home)], reconcile: () => undefined }),
        start: failing,
      }),
    )
    manager.add(controller)
    start()
    channel.push('ns/a')
    await scene.clock.advance('11s')
    expect(reconciled).toEqual(['ns/a'])
    await scene.clock.advance('1m')
    expect(attempts).toBeGreaterThan(10)
    expect(outcome()).toBeUndefined()
  })
})

describe('Manager.start(), stop', () => {
  test('waits for running reconciles before it releases the lease', async () => {
    const scene = new ManagerScene()
    const finish = new Deferred()
    const aborts: boolean[] = []
    const { channel, controller } = pushed(async (_, { signal }) => {
      await finish.promise
      aborts.push(signal.aborted)
    })
    const { manager, start, stop, outcome } = scene.replica({ leaderElection: true })
    manager.add(controller)
    start()
    channel.push('ns/a')
    await scene.clock.advance('1s')
    stop()
    await scene.clock.advance('25s')
    expect(outcome()).toBeUndefined()
    expect(scene.world.leases[0]?.spec.holderIdentity).toBe('replica-1')
    finish.resolve()
    await scene.clock.advance('1s')
    expect(outcome()).toBe('stopped')
    expect(aborts).toEqual([false])
    expect(scene.world.leases[0]?.spec.holderIdentity).toBe('')
  })

  test('aborts running work after the graceful timeout', async () => {
    const scene = new ManagerScene()
    const { channel, controller } = pushed((_, { signal }) => until(signal))
    const { manager, start, stop, outcome } = scene.replica({ gracefulTimeout: '10s' })
    manager.add(controller)
    start()
    channel.push('ns/a')
    await scene.clock.advance('1s')
    stop()
    await scene.clock.advance('9900ms')
    expect(outcome()).toBeUndefined()
    await scene.clock.advance('200ms')
    expect(outcome()).toBe('stopped')
  })

  test('names the parts that are still running in the end, and lets the lease expire', async () => {
    const scene = new ManagerScene()
    const { channel, controller } = pushed(() => new Promise<void>(() => undefined))
    const { manager, start, stop, outcome } = scene.replica({ leaderElection: true, gracefulTimeout: '10s' })
    manager.add(controller)
    start()
    channel.push('ns/a')
    await scene.clock.advance('1s')
    stop()
    await scene.clock.advance('16s')
    expect(outcome()).toMatchObject({
      code: 'KW_STOP_TIMEOUT',
      message: expect.stringContaining('after 15s still running: controller "pushed"'),
    })
    expect(scene.world.leases[0]?.spec.holderIdentity).toBe('replica-1')
    expect(manager.isLeader).toBe(false)
  })

  test('keeps the lease with releaseOnStop: false', async () => {
    const scene = new ManagerScene()
    const { start, stop, outcome } = scene.replica({ leaderElection: { releaseOnStop: false } })
    start()
    await scene.clock.advance('1s')
    stop()
    await scene.clock.advance('1s')
    expect(outcome()).toBe('stopped')
    expect(scene.world.leases[0]?.spec.holderIdentity).toBe('replica-1')
  })
})
