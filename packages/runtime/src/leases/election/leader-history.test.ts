import { linkSignals, nullLogger, type Random, seededRandom, VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { type LeaseTiming, resolveLeaseTiming } from '../lease-timing.ts'
import { LeaseWorld, type Link } from '../testdata/lease-world.ts'
import { Machine } from '../testdata/machine.ts'
import { LeaderElector } from './leader-elector.ts'

const defaults = resolveLeaseTiming({}, 'test')
const troubleEnds = 80_000
// After the faults end, there is time for the longest pause to end and for a new leader.
const length = 130_000

interface Replica {
  readonly name: string
  readonly machine: Machine
  readonly link: Link
  readonly elector: LeaderElector
  /** Makes the replica release the lease and campaign again. */
  leave: () => void
}

/** Three replicas that campaign for one lease, each on a machine with its own clock. */
class Election {
  readonly clock = new VirtualClock()
  readonly replicas: readonly Replica[]
  readonly #stop = new AbortController()
  terms = 0

  constructor(random: Random, timing: LeaseTiming, link: (random: Random) => Link) {
    const world = new LeaseWorld(this.clock, random.fork('network'))
    this.replicas = Array.from({ length: 3 }, (_, index) => {
      const name = `replica-${index}`
      const own = random.fork(name)
      const offset = own.int(7_200_000) - 3_600_000
      const machine = new Machine(this.clock, { rate: 0.95 + own.next() * 0.1, offset })
      const facts = { name, machine, link: link(own), leave: () => undefined }
      const store = world.seenFrom(machine, facts.link)
      const parts = { store, leaseName: 'lock', identity: name, timing, clock: machine, random: own, log: nullLogger }
      return { ...facts, elector: new LeaderElector(parts) }
    })
    for (const replica of this.replicas) this.#campaign(replica).catch(() => undefined)
  }

  /** Runs one event and returns the replicas whose gates are open afterwards. */
  async step(): Promise<readonly Replica[]> {
    await this.clock.advanceToNext()
    return this.replicas.filter(({ elector }) => elector.isLeader)
  }

  end(): void {
    this.#stop.abort()
  }

  async #campaign(replica: Replica): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      await replica.elector.acquire({ signal })
      this.terms++
      const term = linkSignals(signal)
      replica.leave = () => term.abort()
      await replica.elector.keep({ signal: term.signal }).catch(() => replica.elector.release())
    }
  }
}

/** One run with faults of machines and links determined by the seed. Throws when two gates are open at once. */
async function play(seed: number, timing: LeaseTiming): Promise<{ terms: number; ledAtEnd: boolean }> {
  const random = seededRandom(seed)
  const election = new Election(random, timing, (own) => ({
    cut: false,
    loss: own.next() * 0.2,
    delay: 50 + own.next() * 1500,
  }))
  const { clock, replicas } = election
  const trouble = random.fork('trouble')
  let killed = 0
  // Usually hits the leader. One replica always survives.
  const hit = (): void => {
    const leader = replicas.find(({ elector }) => elector.isLeader)
    const { machine, link, leave } = leader !== undefined && trouble.next() < 0.7 ? leader : trouble.pick(replicas)
    const duration = trouble.next() * 30_000
    const what = trouble.pick(['pause', 'cut', 'kill', 'leave'])
    if (what === 'pause') {
      machine.pause()
      clock.setTimer(duration, () => machine.resume())
    } else if (what === 'cut') {
      link.cut = true
      clock.setTimer(duration, () => void (link.cut = false))
    } else if (what === 'kill' && killed < 2) {
      killed++
      machine.kill()
    } else if (what === 'leave' && machine.running) {
      leave()
    }
  }
  for (let at = 5_000; at < troubleEnds; at += 4_000 + trouble.next() * 16_000) clock.setTimer(at, hit)
  clock.setTimer(troubleEnds, () => {
    for (const { link } of replicas) Object.assign(link, { loss: 0, delay: 200 })
  })
  let leaders: readonly Replica[] = []
  while (clock.monotonic() < length) {
    leaders = await election.step()
    if (leaders.length > 1) {
      throw new Error(`seed ${seed}: ${leaders.map(({ name }) => name).join(' and ')} lead at ${clock.monotonic()} ms`)
    }
  }
  election.end()
  return { terms: election.terms, ledAtEnd: leaders.some(({ machine }) => machine.running) }
}

test('LeaderElector never has two open gates, and there is a leader in the end: 1,000 seeded histories', async () => {
  let terms = 0
  for (let seed = 1; seed <= 1000; seed++) {
    const result = await play(seed, defaults)
    terms += result.terms
    expect(result.ledAtEnd, `seed ${seed}: there is a leader in the end`).toBe(true)
  }
  // The lease must have changed hands often, otherwise the histories prove nothing.
  expect(terms).toBeGreaterThan(3000)
})

test('the checker detects two leaders when a leader trusts its lease for too long', async () => {
  const careless = { ...defaults, renewDeadline: defaults.leaseDuration + 10_000 }
  const histories = async (): Promise<void> => {
    for (let seed = 1; seed <= 100; seed++) await play(seed, careless)
  }
  await expect(histories()).rejects.toThrow(/ lead at /)
})

test('LeaderElector replaces a killed leader within the lease duration and a retry: 200 seeded histories', async () => {
  let slowest = 0
  for (let seed = 1; seed <= 200; seed++) {
    const random = seededRandom(seed)
    const election = new Election(random, defaults, () => ({ cut: false, loss: 0, delay: 200 }))
    const { clock } = election
    let leaders: readonly Replica[] = []
    const killAt = 20_000 + random.next() * 10_000
    while (clock.monotonic() < killAt || leaders.length === 0) leaders = await election.step()
    for (const { machine } of leaders) machine.kill()
    const killedAt = clock.monotonic()
    while (!leaders.some(({ machine }) => machine.running)) leaders = await election.step()
    slowest = Math.max(slowest, clock.monotonic() - killedAt)
    election.end()
  }
  // Other candidates observe the last renewal up to one jittered retry and two link delays late, on a clock that is up
  // to 5 % slow.
  expect(slowest).toBeLessThan((defaults.leaseDuration + 2.2 * defaults.retryPeriod) / 0.95 + 1_000)
  expect(slowest).toBeGreaterThan(defaults.leaseDuration / 1.05)
})
