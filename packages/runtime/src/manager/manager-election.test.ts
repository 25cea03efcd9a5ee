import { Deferred } from '@kubewright/base'
import { ConfigMap } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { ManagerScene, until } from './testdata/manager-scene.ts'
import { pushed } from './testdata/pushed.ts'

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

  test('rejects writes of running reconciles and ends with "leader election lost"', async () => {
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

  test('rejects writes of runnables in the phase leader', async () => {
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

  test("steps down with onLost: 'step-down', and works again when it leads again", async () => {
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

  test('does not lead again while work of its last term is running', async () => {
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

  test('is replaced by another manager, which does the work', async () => {
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

  test('fails its liveness check when it hangs', async () => {
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

test('a manager that cannot access its lease is not ready, and reports the reason', async () => {
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
