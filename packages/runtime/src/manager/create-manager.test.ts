import { Deferred } from '@kubewright/base'
import { ConfigMap } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { channelSource } from '../controller/channel-source.ts'
import { defineKeyController, type KeyContext } from '../controller/key-controller.ts'
import { kindSource } from '../controller/kind-source.ts'
import { fakeCluster } from '../controller/testdata/fake-cluster.ts'
import { Home, objectOf } from '../controller/testdata/test-parts.ts'
import { defineOperator } from '../define-operator.ts'
import { createManager } from './create-manager.ts'
import { ManagerScene, until } from './testdata/manager-scene.ts'

/** A controller that is pushed keys. */
function pushed(reconcile: (key: string, context: KeyContext) => Promise<void> | void, name = 'pushed') {
  const channel = channelSource()
  return { channel, controller: defineKeyController({ name, sources: [channel], reconcile }) }
}

describe('the order of a manager', () => {
  test('start: servers, webhooks, cache, others, warm-up, election, leader; stop: the other way round, release last', async () => {
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

  test('a phase waits for those of the phase before that announce when they are ready', async () => {
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

  test('what is added later starts at once if its phase has, else with its phase', async () => {
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

  test('start can be called once', async () => {
    const scene = new ManagerScene()
    const { manager, start } = scene.replica()
    start()
    const { signal } = new AbortController()
    await expect(manager.start({ signal })).rejects.toMatchObject({
      code: 'KW_MANAGER_STARTED',
      message: expect.stringContaining('manager already started'),
    })
  })

  test('a signal that aborts during the start stops what was started', async () => {
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

  test('a signal that has aborted before the start lets nothing start', async () => {
    const scene = new ManagerScene()
    const { manager, start, stop, outcome } = scene.replica({ leaderElection: true, sharding: true })
    manager.add(scene.part('server', 'server'))
    stop()
    start()
    await scene.clock.advance('1s')
    expect([outcome(), scene.said, scene.world.leases]).toEqual(['stopped', [], []])
  })

  test('without cluster and client there is an error that says so', () => {
    expect(() => createManager({ name: 'x' })).toThrow(/without a 'cluster': give it one, or the 'client'/)
  })
})

describe('a part of a manager that fails', () => {
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

  test('that ends early without an error does not end the manager', async () => {
    const scene = new ManagerScene()
    const { manager, start, outcome } = scene.replica()
    manager.add({ name: 'once', run: async () => undefined })
    start()
    await scene.clock.advance('1h')
    expect(outcome()).toBeUndefined()
  })

  test('because its kind is missing ends the manager after its sync timeout, and its readiness says why before', async () => {
    const scene = new ManagerScene()
    const { manager, start, outcome, cluster, checks } = scene.replica()
    cluster.of(Home).health = {
      state: 'failing',
      since: 0,
      failures: 3,
      message: 'homes are not served',
      cure: 'install the CRD',
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

  test('because its kind is missing only waits when the manager may be degraded; the others work', async () => {
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
})

describe('the stop of a manager', () => {
  test('lets running reconciles finish before it hands the lease over', async () => {
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

  test('aborts what has not finished after the graceful timeout', async () => {
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

  test('names what is still running in the end, and leaves the lease to expire', async () => {
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

  test('keeps the lease when releaseOnStop is off', async () => {
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

describe('a manager that loses its lease', () => {
  const writing = (refused: unknown[], attempts: Deferred[]) =>
    pushed(async (key, { client }) => {
      const attempt = new Deferred()
      attempts.push(attempt)
      await attempt.promise
      try {
        await client.create(ConfigMap({ metadata: { name: key } }))
      } catch (error) {
        refused.push(error)
        throw error
      }
    })

  test('refuses writes of running reconciles and ends with "leader election lost"', async () => {
    const scene = new ManagerScene()
    const refused: unknown[] = []
    const attempts: Deferred[] = []
    const { channel, controller } = writing(refused, attempts)
    const { manager, start, outcome, link, written } = scene.replica({ leaderElection: true })
    manager.add(controller)
    start()
    channel.push('a')
    await scene.clock.advance('1s')
    link.cut = true
    await scene.clock.advance('11s')
    expect(outcome()).toBeUndefined()
    attempts[0]?.resolve()
    await scene.clock.advance('1s')
    expect(refused).toMatchObject([{ name: 'NotLeaderError', code: 'KW_NOT_LEADER' }])
    expect(written).toEqual([])
    await scene.clock.advance('30s')
    expect(outcome()).toMatchObject({ code: 'KW_LEADERSHIP_LOST', message: 'leader election lost' })
  })

  test('refuses what its parts of the phase leader write', async () => {
    const scene = new ManagerScene()
    const outcomes: unknown[] = []
    const { manager, start, link, written } = scene.replica({ leaderElection: true })
    manager.add({
      name: 'writer',
      async run({ cluster, abort }) {
        await cluster.client.create(ConfigMap({ metadata: { name: 'before' } }))
        await until(abort)
        await cluster.client.create(ConfigMap({ metadata: { name: 'after' } })).catch((error) => outcomes.push(error))
      },
    })
    start()
    await scene.clock.advance('1s')
    link.cut = true
    await scene.clock.advance('30s')
    expect(outcomes).toMatchObject([{ code: 'KW_NOT_LEADER' }])
    expect(written).toEqual(['before'])
  })

  test('steps down if told to, and works again when it leads again', async () => {
    const scene = new ManagerScene()
    const reconciled: string[] = []
    const { channel, controller } = pushed((key) => void reconciled.push(key))
    const { manager, start, stop, outcome, link } = scene.replica({ leaderElection: { onLost: 'step-down' } })
    manager.add(controller)
    manager.add(scene.part('leader', 'leader'))
    start()
    await scene.clock.advance('1s')
    link.cut = true
    await scene.clock.advance('15s')
    expect([manager.isLeader, outcome()]).toEqual([false, undefined])
    channel.push('ns/a')
    await scene.clock.advance('1s')
    expect(reconciled).toEqual([])
    link.cut = false
    await scene.clock.advance('6s')
    expect(manager.isLeader).toBe(true)
    expect(reconciled).toEqual(['ns/a'])
    expect(scene.said.filter((line) => line.endsWith(' leader') && !line.startsWith('event'))).toEqual([
      'start leader',
      'end leader',
      'start leader',
    ])
    stop()
    await scene.clock.advance('1s')
    expect(outcome()).toBe('stopped')
  })

  test('does not lead again while work of its last term goes on', async () => {
    const scene = new ManagerScene()
    const { channel, controller } = pushed(() => new Promise<void>(() => undefined))
    const { manager, start, outcome, link } = scene.replica({
      leaderElection: { onLost: 'step-down' },
      gracefulTimeout: 0,
    })
    manager.add(controller)
    start()
    channel.push('ns/a')
    await scene.clock.advance('1s')
    link.cut = true
    await scene.clock.advance('15s')
    link.cut = false
    await scene.clock.advance('30s')
    expect(outcome()).toMatchObject({
      code: 'KW_STOP_TIMEOUT',
      message: expect.stringContaining('after the lease was lost still running: controller "pushed"'),
    })
  })

  test('is followed by another one that then does the work', async () => {
    const scene = new ManagerScene()
    const worked: string[] = []
    const replicas = ['a', 'b'].map((name) => {
      const { channel, controller } = pushed((key) => void worked.push(`${name} ${key}`))
      const replica = scene.replica({ leaderElection: true })
      replica.manager.add(controller)
      replica.start()
      channel.push('ns/x')
      return { ...replica, channel }
    })
    await scene.clock.advance('1s')
    expect(worked).toEqual(['a ns/x'])
    expect(replicas.map(({ manager }) => manager.isLeader)).toEqual([true, false])
    replicas[0]?.machine.kill()
    await scene.clock.advance('20s')
    expect(worked).toEqual(['a ns/x', 'b ns/x'])
  })

  test('is reported by the watchdog when it hangs', async () => {
    const scene = new ManagerScene()
    const { start, machine, checks } = scene.replica({ leaderElection: true })
    start()
    await scene.clock.advance('1s')
    const { signal } = new AbortController()
    await checks.get('healthz/leaderElection')?.(signal)
    machine.pause()
    await scene.clock.advance('1m')
    expect(() => checks.get('healthz/leaderElection')?.(signal)).toThrow(
      'failed election to renew leadership on lease test',
    )
  })
})

test('a manager that cannot get at its lease is not ready, and says so', async () => {
  const scene = new ManagerScene()
  const { start, link, checks } = scene.replica({ leaderElection: true })
  link.cut = true
  start()
  await scene.clock.advance('10s')
  const ready = (): unknown => checks.get('readyz/leaderElection')?.(new AbortController().signal)
  expect(ready).toThrow('lease default/test: timed out')
  link.cut = false
  await scene.clock.advance('10s')
  expect(ready).not.toThrow()
})

describe('clusters of a manager', () => {
  const copying = (reconciled: string[]) =>
    defineKeyController({ name: 'home', sources: [kindSource(Home)], reconcile: (key) => void reconciled.push(key) })

  test('engage runs all controllers on a further cluster, disengage ends them and their sources', async () => {
    const scene = new ManagerScene()
    const reconciled: string[] = []
    const { manager, start, cluster } = scene.replica({
      operator: defineOperator({ name: 'op', controllers: [copying(reconciled)] }),
    })
    cluster.of(Home).sync()
    start()
    await scene.clock.advance('1s')
    const west = fakeCluster('west')
    west.of(Home).put(objectOf(Home, 'w', 1))
    const engaged = manager.clusters.engage(west)
    west.of(Home).sync()
    await scene.clock.advance('1s')
    await engaged
    expect(reconciled).toEqual(['ns/w'])
    expect(manager.runners.map(({ name }) => name)).toEqual(['home', 'home@west'])
    expect([...manager.clusters]).toEqual([west])
    expect(manager.clusters.get('west')).toBe(west)
    await expect(manager.clusters.engage(west)).rejects.toThrow('its name must be new and not empty')

    const disengaged = manager.clusters.disengage('west')
    await scene.clock.advance('1s')
    await disengaged
    expect(west.of(Home).leases).toBe(0)
    expect(manager.describe().clusters).toEqual([''])
    cluster.of(Home).put(objectOf(Home, 'main', 1))
    await scene.clock.advance('1s')
    expect(reconciled).toEqual(['ns/w', 'ns/main'])
  })

  test('engage leaves nothing behind when the sources cannot sync', async () => {
    const scene = new ManagerScene()
    const { manager, start, cluster, outcome } = scene.replica()
    manager.add(copying([]))
    cluster.of(Home).sync()
    start()
    await scene.clock.advance('1s')
    const west = fakeCluster('west')
    const engaged = expect(manager.clusters.engage(west)).rejects.toMatchObject({ code: 'KW_CACHE_NOT_SYNCED' })
    await scene.clock.advance('3m')
    await engaged
    expect(west.of(Home).leases).toBe(0)
    expect([...manager.clusters]).toEqual([])
    expect(outcome()).toBeUndefined()
  })

  test('engaged before the start are started with the manager', async () => {
    const scene = new ManagerScene()
    const reconciled: string[] = []
    const { manager, start, cluster } = scene.replica()
    const west = fakeCluster('west')
    await manager.clusters.engage(west)
    manager.add(copying(reconciled))
    for (const each of [cluster, west]) {
      each.of(Home).put(objectOf(Home, 'x', 1))
      each.of(Home).sync()
    }
    start()
    await scene.clock.advance('1s')
    expect(reconciled).toEqual(['ns/x', 'ns/x'])
  })
})

test('managers with sharding reconcile each key on one replica, and take over from one that is killed', async () => {
  const scene = new ManagerScene()
  const keys = Array.from({ length: 30 }, (_, index) => `ns/${index}`)
  const worked = new Map<string, string[]>()
  const replicas = ['a', 'b', 'c'].map((name) => {
    const home = defineKeyController({
      name: 'home',
      sources: [kindSource(Home)],
      reconcile: (key) => void worked.set(key, [...(worked.get(key) ?? []), name]),
    })
    const replica = scene.replica({ sharding: true })
    replica.manager.add(home)
    for (const key of keys) replica.cluster.of(Home).put(objectOf(Home, key.slice(3), 1))
    replica.cluster.of(Home).sync()
    replica.start()
    return replica
  })
  await scene.clock.advance('10s')
  expect(replicas[0]?.manager.describe().sharding).toEqual({
    members: ['replica-1', 'replica-2', 'replica-3'],
    joined: true,
    held: 0,
  })
  const touchAll = (version: number): void => {
    worked.clear()
    for (const { cluster } of replicas) {
      for (const key of keys) cluster.of(Home).put(objectOf(Home, key.slice(3), version))
    }
  }
  touchAll(2)
  await scene.clock.advance('1s')
  expect([...worked.keys()].sort()).toEqual([...keys].sort())
  expect([...worked.values()].every((names) => names.length === 1)).toBe(true)
  expect(new Set([...worked.values()].flat())).toEqual(new Set(['a', 'b', 'c']))

  replicas[1]?.machine.kill()
  await scene.clock.advance('25s')
  touchAll(3)
  await scene.clock.advance('1s')
  expect([...worked.keys()].sort()).toEqual([...keys].sort())
  expect(new Set([...worked.values()].flat())).toEqual(new Set(['a', 'c']))

  // One that stops hands its keys over at once.
  replicas[2]?.stop()
  await scene.clock.advance('5s')
  expect(replicas[2]?.outcome()).toBe('stopped')
  touchAll(4)
  await scene.clock.advance('1s')
  expect(new Set([...worked.values()].flat())).toEqual(new Set(['a']))
})

test('a reconcile is told when its replica loses its share of the keys, and its writes are refused', async () => {
  const scene = new ManagerScene()
  const ended: string[] = []
  const { channel, controller } = pushed(async (key, { signal, client }) => {
    await until(signal)
    await client.create(ConfigMap({ metadata: { name: key } })).catch((error) => ended.push(`${key}: ${error}`))
  })
  const { manager, start, link, written } = scene.replica({ sharding: true })
  manager.add(controller)
  start()
  channel.push('ns/a')
  await scene.clock.advance('3s')
  expect(manager.describe().sharding).toMatchObject({ joined: true, held: 1 })
  link.cut = true
  await scene.clock.advance('8s')
  expect(ended).toEqual([])
  await scene.clock.advance('2s')
  expect(ended).toEqual([expect.stringMatching(/^ns\/a: NotLeaderError: .* its share of the keys/)])
  expect(written).toEqual([])
  link.cut = false
  await scene.clock.advance('5s')
  expect(manager.describe().sharding).toMatchObject({ joined: true })
})
