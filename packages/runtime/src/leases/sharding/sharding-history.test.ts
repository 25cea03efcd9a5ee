import { linkSignals, nullLogger, type Random, seededRandom, VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { type LeaseTiming, resolveLeaseTiming } from '../lease-timing.ts'
import { LeaseWorld, type Link } from '../testdata/lease-world.ts'
import { Machine } from '../testdata/machine.ts'
import { createSharding } from './create-sharding.ts'
import type { Sharding } from './sharding.ts'

const defaults = resolveLeaseTiming({}, 'test')
const keys = Array.from({ length: 12 }, (_, index) => `default/object-${index}`)
const troubleEnds = 70_000
const length = 130_000

interface Replica {
  readonly name: string
  readonly machine: Machine
  readonly link: Link
  readonly sharding: Sharding
  /** The keys in process. */
  readonly working: Set<string>
  readonly leave: () => void
}

/** Replicas that share keys: each tries every key repeatedly and works on it for a while if it may. */
class Fleet {
  readonly clock = new VirtualClock()
  readonly replicas: Replica[] = []
  readonly reconciledAt = new Map<string, number>()
  readonly #random: Random
  readonly #timing: LeaseTiming
  readonly #world: LeaseWorld
  readonly #stop = new AbortController()

  constructor(random: Random, timing: LeaseTiming) {
    this.#random = random
    this.#timing = timing
    this.#world = new LeaseWorld(this.clock, random.fork('network'))
  }

  join(): void {
    const name = `replica-${this.replicas.length}`
    const own = this.#random.fork(name)
    const offset = own.int(7_200_000) - 3_600_000
    const machine = new Machine(this.clock, { rate: 0.95 + own.next() * 0.1, offset })
    const link = { cut: false, loss: own.next() * 0.15, delay: 50 + own.next() * 1000 }
    const sharding = createSharding({
      store: this.#world.seenFrom(machine, link),
      leaseName: 'group',
      identity: name,
      timing: this.#timing,
      clock: machine,
      log: nullLogger,
    })
    const stopping = linkSignals(this.#stop.signal)
    const working = new Set<string>()
    const drained = keys.map((key) => this.#work(sharding, machine, own.fork(key), key, working, stopping.signal))
    const running = linkSignals(this.#stop.signal)
    void sharding.run({ signal: running.signal })
    const leave = (): void => {
      stopping.abort()
      void Promise.all(drained).then(() => {
        running.abort()
        return sharding.leave()
      })
    }
    this.replicas.push({ name, machine, link, sharding, working, leave })
  }

  /** Runs one event. Throws when two replicas work on the same key with open gates afterwards. */
  async step(): Promise<void> {
    await this.clock.advanceToNext()
    const workers = new Map<string, string>()
    for (const { name, sharding, working } of this.replicas) {
      if (!isOpen(sharding)) continue
      for (const key of working) {
        const other = workers.get(key)
        if (other !== undefined) throw new Error(`${other} and ${name} work on ${key} at ${this.clock.monotonic()} ms`)
        workers.set(key, name)
      }
    }
  }

  end(): void {
    this.#stop.abort()
  }

  async #work(
    sharding: Sharding,
    machine: Machine,
    random: Random,
    key: string,
    working: Set<string>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      while (!signal.aborted) {
        await machine.sleep(1000 + random.next() * 3000, { signal })
        const hold = sharding.keys.hold(key)
        if (hold === undefined) continue
        working.add(key)
        // Some reconciles are slow, and most of them end when they lose their key.
        const isSlow = random.next() < 0.05 && this.clock.monotonic() < troubleEnds
        const time = isSlow ? random.next() * 20_000 : random.next() * 1000
        await machine.sleep(time, random.next() < 0.8 ? { signal: hold.lost } : {}).catch(() => undefined)
        if (isOpen(sharding)) this.reconciledAt.set(key, this.clock.monotonic())
        working.delete(key)
        hold[Symbol.dispose]()
      }
    } catch {
      // The replica was stopped.
    }
  }
}

function isOpen({ gate }: Sharding): boolean {
  try {
    gate.assertOpen()
    return true
  } catch {
    return false
  }
}

async function play(seed: number, timing: LeaseTiming): Promise<{ owners: number }> {
  const random = seededRandom(seed)
  const fleet = new Fleet(random, timing)
  const { clock, replicas } = fleet
  for (let count = 0; count < 3; count++) fleet.join()
  const trouble = random.fork('trouble')
  let gone = 0
  const hit = (): void => {
    const { machine, link, leave } = trouble.pick(replicas)
    const duration = trouble.next() * 30_000
    const what = trouble.pick(['pause', 'pause', 'cut', 'cut', 'kill', 'leave', 'join'])
    if (what === 'pause') {
      machine.pause()
      clock.setTimer(duration, () => machine.resume())
    } else if (what === 'cut') {
      link.cut = true
      clock.setTimer(duration, () => void (link.cut = false))
    } else if (what === 'join' && replicas.length < 5) fleet.join()
    else if (gone < 2 && what === 'kill') {
      gone++
      machine.kill()
    } else if (gone < 2 && what === 'leave') {
      gone++
      leave()
    }
  }
  for (let at = 8_000; at < troubleEnds; at += 4_000 + trouble.next() * 12_000) clock.setTimer(at, hit)
  clock.setTimer(troubleEnds, () => {
    for (const { link } of replicas) Object.assign(link, { loss: 0, delay: 200 })
  })
  while (clock.monotonic() < length) await fleet.step()
  for (const key of keys) {
    const age = clock.monotonic() - (fleet.reconciledAt.get(key) ?? 0)
    if (age > 25_000) throw new Error(`${key} was not reconciled for ${age} ms`)
  }
  fleet.end()
  return { owners: replicas.filter(({ sharding }) => sharding.joined).length }
}

test('createSharding() never lets two replicas work on one key, and leaves no key out: 150 seeded histories', async () => {
  let shared = 0
  for (let seed = 1; seed <= 150; seed++) {
    const { owners } = await play(seed, defaults).catch((error) => {
      throw new Error(`seed ${seed}: ${error.message}`)
    })
    if (owners > 1) shared++
  }
  expect(shared).toBeGreaterThan(100)
})

test('the checker detects two replicas on one key when a replica trusts its lease for too long', async () => {
  const careless = { ...defaults, renewDeadline: defaults.leaseDuration + 10_000 }
  const histories = async (): Promise<void> => {
    for (let seed = 1; seed <= 60; seed++) await play(seed, careless)
  }
  await expect(histories()).rejects.toThrow(/ work on /)
})
