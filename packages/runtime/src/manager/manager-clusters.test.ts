import { ConfigMap } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { defineKeyController } from '../controller/key-controller.ts'
import { kindSource } from '../controller/sources/kind-source.ts'
import { fakeCluster } from '../controller/testdata/fake-cluster.ts'
import { Home, objectOf } from '../controller/testdata/test-parts.ts'
import { defineOperator } from '../define/define-operator.ts'
import { ManagerScene, until } from './testdata/manager-scene.ts'
import { pushed } from './testdata/pushed.ts'

describe('Manager.clusters', () => {
  const copying = (reconciled: string[]) =>
    defineKeyController({ name: 'home', sources: [kindSource(Home)], reconcile: (key) => void reconciled.push(key) })

  test('engage() runs all controllers on a further cluster, and disengage() stops them and their sources', async () => {
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

  test('engage() undoes everything when the sources cannot sync', async () => {
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

  test('engage() before the start starts the cluster with the manager', async () => {
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

  // A replica that stops hands its keys over at once.
  replicas[2]?.stop()
  await scene.clock.advance('5s')
  expect(replicas[2]?.outcome()).toBe('stopped')
  touchAll(4)
  await scene.clock.advance('1s')
  expect(new Set([...worked.values()].flat())).toEqual(new Set(['a']))
})

test('a reconcile is aborted when its replica loses its share of the keys, and its writes are rejected', async () => {
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
