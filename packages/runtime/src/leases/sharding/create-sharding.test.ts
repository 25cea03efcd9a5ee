import { memoryLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { resolveLeaseTiming } from '../lease-timing.ts'
import { LeaseWorld } from '../testdata/lease-world.ts'
import { Machine } from '../testdata/machine.ts'
import { createSharding } from './create-sharding.ts'

const keys = Array.from({ length: 20 }, (_, index) => `default/${index}`)

class Scene {
  readonly clock = new VirtualClock()
  readonly world = new LeaseWorld(this.clock, seededRandom(1))
  readonly log = memoryLogger(0)

  member(identity: string, leaseName = 'group') {
    const machine = new Machine(this.clock)
    const link = { cut: false, loss: 0, delay: 0 }
    const measured = new Map<string, number>()
    const sharding = createSharding({
      store: this.world.seenFrom(machine, link),
      leaseName,
      identity,
      timing: resolveLeaseTiming({}, 'test'),
      clock: machine,
      log: this.log,
      metrics: {
        add: () => undefined,
        set: (name, _, value) => void measured.set(name, value),
        observe: () => undefined,
      },
    })
    const stop = new AbortController()
    const ended = sharding.run({ signal: stop.signal })
    const owned = (): string[] =>
      keys.filter((key) => {
        const hold = sharding.keys.hold(key)
        hold?.[Symbol.dispose]()
        return hold !== undefined
      })
    const leave = async (): Promise<void> => {
      stop.abort()
      await ended
      await sharding.leave()
    }
    return { sharding, machine, link, owned, leave, measured }
  }
}

describe('createSharding', () => {
  test('assigns all keys to a single replica, and writes the set to its Lease', async () => {
    const scene = new Scene()
    const a = scene.member('Pod_A')
    expect(a.owned()).toEqual([])
    expect(a.sharding.problem()).toBe('sharding: not joined')
    await scene.clock.advance('1ms')
    expect(a.owned()).toEqual(keys)
    expect(a.sharding.problem()).toBeUndefined()
    expect(Object.fromEntries(a.measured)).toEqual({ kubewright_sharding_members: 1, kubewright_sharding_joined: 1 })
    expect(scene.world.leases).toMatchObject([
      {
        metadata: {
          name: expect.stringMatching(/^group-pod-a-[0-9a-f]{8}$/),
          labels: { 'kubewright.dev/sharding': 'group' },
          annotations: { 'kubewright.dev/sharding-members': '["Pod_A"]' },
        },
        spec: { holderIdentity: 'Pod_A', leaseDurationSeconds: 15 },
      },
    ])
  })

  test('hands keys over to a new member after the work on them has ended', async () => {
    const scene = new Scene()
    const a = scene.member('a')
    await scene.clock.advance('1s')
    const b = scene.member('b')
    const holds = keys.map((key) => a.sharding.keys.hold(key))
    let changes = 0
    b.sharding.keys.onChange(() => changes++)
    await scene.clock.advance('1m')
    // The holder neither takes a key that it should give away, nor gives a key away while it holds it.
    expect(b.owned()).toEqual([])
    const kept = a.owned()
    expect(kept.length).toBeLessThan(keys.length)
    const seen = changes
    for (const hold of holds) hold?.[Symbol.dispose]()
    await scene.clock.advance('3s')
    expect(changes).toBeGreaterThan(seen)
    expect(a.owned()).toEqual(kept)
    expect([...a.owned(), ...b.owned()].sort()).toEqual([...keys].sort())
  })

  test('reassigns the keys of a member that left within a retry period, and of one that died after its lease duration', async () => {
    const scene = new Scene()
    const [a, b, c] = ['a', 'b', 'c'].map((name) => scene.member(name)) as [Member, Member, Member]
    await scene.clock.advance('10s')
    expect(a.sharding.members).toEqual(['a', 'b', 'c'])
    const left = b.leave()
    await scene.clock.advance('2100ms')
    await left
    expect([...a.owned(), ...c.owned()].sort()).toEqual([...keys].sort())
    c.machine.kill()
    await scene.clock.advance('14s')
    expect(a.owned().length).toBeLessThan(keys.length)
    await scene.clock.advance('4s')
    expect(a.owned()).toEqual(keys)
  })

  test('deletes the leases of members that expired long ago', async () => {
    const scene = new Scene()
    const a = scene.member('a')
    const b = scene.member('b')
    await scene.clock.advance('10s')
    b.machine.kill()
    await scene.clock.advance('25s')
    expect(scene.world.leases).toHaveLength(2)
    await scene.clock.advance('15s')
    expect(scene.world.leases.map(({ spec }) => spec.holderIdentity)).toEqual(['a'])
    expect(a.sharding.problem()).toBeUndefined()
  })

  test('stops before its lease expires, aborts its work, and rejoins only after the work has ended', async () => {
    const scene = new Scene()
    const a = scene.member('a')
    await scene.clock.advance('1s')
    const hold = a.sharding.keys.hold('default/0')
    a.link.cut = true
    await scene.clock.advance('8s')
    expect([hold?.lost?.aborted, a.owned().length]).toEqual([false, keys.length])
    await scene.clock.advance('1100ms')
    expect([hold?.lost?.aborted, a.owned().length]).toEqual([true, 0])
    expect(() => a.sharding.gate.assertOpen()).toThrow(/does not hold its share of the keys \(leases test\/group-\*\)/)
    a.link.cut = false
    await scene.clock.advance('1m')
    expect(a.owned()).toEqual([])
    expect(a.sharding.problem()).toBe('sharding: waiting for 1 reconciles to end before rejoining: default/0')
    hold?.[Symbol.dispose]()
    await scene.clock.advance('1s')
    expect(a.owned()).toEqual(keys)
    expect(a.sharding.keys.hold('default/0')?.lost?.aborted).toBe(false)
  })

  test('treats a member without a valid set as claiming every key', async () => {
    const scene = new Scene()
    const a = scene.member('a')
    await scene.clock.advance('1s')
    const store = scene.world.seenFrom(new Machine(scene.clock), { cut: false, loss: 0, delay: 0 })
    const [lease] = scene.world.leases
    const spec = { holderIdentity: 'stranger', leaseDurationSeconds: 15 }
    const metadata = { name: 'group-stranger', labels: { ...lease?.metadata.labels } }
    void store.create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec })
    await scene.clock.advance('5s')
    expect(a.owned()).toEqual([])
    await scene.clock.advance('15s')
    expect(a.owned()).toEqual(keys)
  })

  test('keeps groups with different names apart', async () => {
    const scene = new Scene()
    const a = scene.member('a')
    const b = scene.member('b', `a-name-that-is-too-long-for-a-label-${'x'.repeat(40)}`)
    await scene.clock.advance('5s')
    expect([a.owned(), b.owned()]).toEqual([keys, keys])
  })
})

type Member = ReturnType<Scene['member']>
