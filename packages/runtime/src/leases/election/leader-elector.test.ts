import { newForbidden } from '@kubewright/api'
import { type MemoryLogger, type MetricSink, memoryLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { resolveLeaseTiming } from '../lease-timing.ts'
import { NotLeaderError } from '../not-leader-error.ts'
import { LeaseWorld } from '../testdata/lease-world.ts'
import { Machine } from '../testdata/machine.ts'
import { LeaderElector } from './leader-elector.ts'

class Scene {
  readonly clock = new VirtualClock()
  readonly world = new LeaseWorld(this.clock, seededRandom(1))
  readonly log: MemoryLogger = memoryLogger()
  readonly measured = new Map<string, number>()
  readonly recorded: string[] = []
  readonly stop = new AbortController()

  candidate(name: string) {
    const machine = new Machine(this.clock)
    const link = { cut: false, loss: 0, delay: 0 }
    const store = this.world.seenFrom(machine, link)
    const metrics: MetricSink = {
      add: (metric, _, amount) => void this.measured.set(metric, (this.measured.get(metric) ?? 0) + amount),
      set: (metric, _, value) => void this.measured.set(`${name} ${metric}`, value),
      observe: () => undefined,
    }
    const elector = new LeaderElector({
      store,
      leaseName: 'lock',
      identity: name,
      timing: resolveLeaseTiming({}, 'test'),
      clock: machine,
      random: seededRandom(name.length),
      log: this.log,
      metrics,
      events: { record: (_, note) => void this.recorded.push(`${note.reason}: ${note.message}`) },
    })
    const state = { acquired: false, lost: false }
    const { signal } = this.stop
    const run = async (): Promise<void> => {
      await elector.acquire({ signal })
      state.acquired = true
      await elector.keep({ signal })
      state.lost = true
    }
    return { elector, machine, link, store, state, run: () => void run().catch(() => undefined) }
  }

  get spec() {
    return this.world.leases[0]?.spec
  }
}

describe('LeaderElector', () => {
  test('release() sends no request when this process never held the lease', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.link.cut = true
    a.run()
    await scene.clock.advance('30s')
    scene.stop.abort()
    const before = scene.clock.monotonic()
    const released = a.elector.release()
    await scene.clock.advance('1ms')
    await released
    expect(scene.clock.monotonic() - before).toBe(1)
    expect(scene.log.records.map(({ message }) => message)).not.toContain('Failed to release lease')
  })

  test('creates the lease, leads, and renews every retry period', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.run()
    await scene.clock.advance('1ms')
    expect(a.elector.isLeader).toBe(true)
    expect(scene.spec).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2025-01-01T00:00:00.000000Z',
      renewTime: '2025-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    })
    await scene.clock.advance('2s')
    expect(scene.spec).toMatchObject({
      acquireTime: '2025-01-01T00:00:00.000000Z',
      renewTime: '2025-01-01T00:00:02.000000Z',
    })
    expect(scene.measured.get('a leader_election_master_status')).toBe(1)
    expect(scene.measured.get('leader_election_slowpath_total')).toBe(0)
    expect(scene.recorded).toEqual(['LeaderElection: a became leader'])
  })

  test('waits for an expiry that it has observed itself, whatever times the Lease contains', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.run()
    await scene.clock.advance('10s')
    a.machine.kill()
    // The clock of the dead leader was an hour behind: its Lease looks long expired.
    scene.clock.setNow(scene.clock.now() + 3_600_000)
    const b = scene.candidate('b')
    b.run()
    await scene.clock.advance('14900ms')
    expect(b.elector.isLeader).toBe(false)
    await scene.clock.advance('200ms')
    expect(b.elector.isLeader).toBe(true)
    expect(scene.spec).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 })
  })

  test('closes the gate one renew deadline after the start of the last renewal, and reports the loss then', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.run()
    await scene.clock.advance('4500ms')
    a.link.cut = true
    await scene.clock.advance('9490ms')
    expect([a.elector.isLeader, a.state.lost]).toEqual([true, false])
    await scene.clock.advance('20ms')
    expect([a.elector.isLeader, a.state.lost]).toEqual([false, true])
    expect(() => a.elector.gate.assertOpen()).toThrow(NotLeaderError)
    expect(scene.measured.get('a leader_election_master_status')).toBe(0)
    expect(scene.recorded.at(-1)).toBe('LeaderElection: a stopped leading')
  })

  test('finds the gate closed when it resumes after a pause, before any timer fires', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.run()
    await scene.clock.advance('3s')
    a.machine.pause()
    await scene.clock.advance('11s')
    expect(() => a.elector.gate.assertOpen()).toThrow(
      expect.objectContaining({ code: 'KW_NOT_LEADER', message: expect.stringContaining('the lease test/lock') }),
    )
  })

  test('renews by the slow path after another client has modified the lease', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.run()
    await scene.clock.advance('1s')
    const other = scene.world.seenFrom(new Machine(scene.clock), { cut: false, loss: 0, delay: 0 })
    const [lease] = scene.world.leases
    void other.update({ ...lease!, metadata: { ...lease!.metadata, labels: { touched: 'yes' } } })
    await scene.clock.advance('20s')
    expect(a.elector.isLeader).toBe(true)
    expect(scene.measured.get('leader_election_slowpath_total')).toBe(1)
    expect(scene.world.leases[0]?.metadata.labels).toEqual({ touched: 'yes' })
  })

  test('stops at once when another candidate holds the lease', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.run()
    await scene.clock.advance('1s')
    const other = scene.world.seenFrom(new Machine(scene.clock), { cut: false, loss: 0, delay: 0 })
    const [lease] = scene.world.leases
    void other.update({ ...lease!, spec: { ...lease!.spec, holderIdentity: 'usurper' } })
    await scene.clock.advance('2s')
    expect(a.state.lost).toBe(true)
    expect(a.elector.holder).toBe('usurper')
  })

  test('release() does not retry when writing the lease is forbidden', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.run()
    await scene.clock.advance('1s')
    scene.stop.abort()
    a.store.update = async () => {
      throw newForbidden({ group: 'coordination.k8s.io', resource: 'leases' }, 'lock', 'no right')
    }
    const before = scene.clock.monotonic()
    const released = a.elector.release()
    await scene.clock.advance('1ms')
    await released
    expect(scene.clock.monotonic() - before).toBe(1)
    expect(scene.log.records.map(({ message }) => message)).toContain('Failed to release lease')
  })

  test('release() lets another candidate lead within a jittered retry', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    const b = scene.candidate('b')
    a.run()
    await scene.clock.advance('1s')
    b.run()
    await scene.clock.advance('5s')
    scene.stop.abort()
    await scene.clock.advance('1ms')
    expect(a.elector.isLeader).toBe(true)
    const released = a.elector.release()
    expect(a.elector.isLeader).toBe(false)
    await scene.clock.advance('1ms')
    await released
    expect(scene.spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 0 })
    const again = b.elector.acquire({ signal: new AbortController().signal })
    await scene.clock.advance('4400ms')
    await again
    expect(scene.spec).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 1 })
  })

  test('acquire() leads at once when the store reports the release of the lease', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    const b = scene.candidate('b')
    let report: (released: boolean) => void = () => undefined
    b.store.released = () => new Promise((resolve) => void (report = resolve))
    a.run()
    await scene.clock.advance('1s')
    b.run()
    await scene.clock.advance('5s')
    const released = a.elector.release()
    await scene.clock.advance('1ms')
    await released
    expect(b.elector.isLeader).toBe(false)
    report(true)
    await scene.clock.advance('1ms')
    expect(b.elector.isLeader).toBe(true)
  })

  test('acquire() counts the lease duration from the renewal that the watch reported', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    const b = scene.candidate('b')
    let report = (): void => undefined
    b.store.released = (_, { onRenewed }) => {
      report = () => onRenewed(scene.world.leases[0]!)
      return new Promise(() => undefined)
    }
    a.run()
    await scene.clock.advance('1s')
    b.run()
    for (let i = 0; i < 90; i++) {
      await scene.clock.advance('100ms')
      report()
    }
    // The last renewal was after 10 seconds.
    a.machine.kill()
    await scene.clock.advance('14900ms')
    expect(b.elector.isLeader).toBe(false)
    await scene.clock.advance('300ms')
    expect(b.elector.isLeader).toBe(true)
  })

  test('acquire() polls when the watch of the lease ends or fails', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    const b = scene.candidate('b')
    let calls = 0
    b.store.released = async () => {
      if (calls++ % 2 === 0) return false
      throw new Error('no watch')
    }
    a.run()
    await scene.clock.advance('1s')
    b.run()
    await scene.clock.advance('10s')
    // One call for each retry period of 2 to 4.4 seconds.
    expect(calls).toBeGreaterThanOrEqual(3)
    expect(calls).toBeLessThanOrEqual(6)
    void a.elector.release()
    await scene.clock.advance('4400ms')
    expect(b.elector.isLeader).toBe(true)
  })

  test('check() throws when a lease that this process holds is long overdue', async () => {
    const scene = new Scene()
    const a = scene.candidate('a')
    a.run()
    await scene.clock.advance('1s')
    a.elector.check()
    a.machine.pause()
    await scene.clock.advance('34s')
    a.elector.check()
    await scene.clock.advance('2s')
    expect(() => a.elector.check()).toThrow('failed election to renew leadership on lease lock')
  })
})

describe('resolveLeaseTiming', () => {
  test.each([
    [{ leaseDuration: '10s' }, /'leaseDuration' \(10s\) must be greater than 'renewDeadline' \(10s\)/],
    [{ retryPeriod: '9s' }, /'renewDeadline' \(10s\) must be greater than 1.2 times 'retryPeriod' \(9s\)/],
    [{ retryPeriod: 0 }, /'retryPeriod' must be greater than zero/],
  ] as const)('rejects %j and names field and reason', (options, message) => {
    expect(() => resolveLeaseTiming(options, 'operator "x"')).toThrow(message)
  })

  test('rounds the lease duration up to whole seconds, and limits requests to half the deadline', () => {
    const timing = resolveLeaseTiming({ leaseDuration: '2500ms', renewDeadline: '2s', retryPeriod: '1s' }, 'x')
    expect(timing).toEqual({ leaseDuration: 3000, renewDeadline: 2000, retryPeriod: 1000, requestTimeout: 1000 })
  })
})
