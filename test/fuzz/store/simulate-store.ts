// One run of concurrent clients on a store in virtual time. The seed determines everything.
import { drainMicrotasks, type Random, seededRandom, VirtualClock } from '@kubewright/base'
import { MemoryStore, openDurableStore, StorageError, type Store } from '@kubewright/storage'
import type { Disk } from '../../../packages/storage/src/durable/disk.ts'
import type { History, Operation, WatchCall } from './history.ts'
import { RecordedClient, RecordedWatcher, type Target, type Workload } from './recorded-client.ts'
import { randomSurvival, SimulatedDisk } from './simulated-disk.ts'

/** Options of {@link simulateStore}. */
export interface SimulationOptions {
  readonly seed: string
  readonly backend: 'memory' | 'durable'
  /** How many operations the clients make, about. */
  readonly operations: number
  /** Makes the disk of each process worse, to test the checker. */
  readonly spoilDisk?: (disk: Disk, random: Random) => Disk
  /** Makes the store of each process worse, to test the checker. */
  readonly spoilStore?: (store: Store, random: Random) => Store
}

/** The figures of a run. */
export interface RunCounts {
  readonly operations: number
  readonly events: number
  /** How often the store was killed, lost power or was restarted. */
  readonly crashes: number
  /** How often the disk was full, became read-only or failed a sync, or the clock was set. */
  readonly faults: number
}

/** The record of a run. */
export interface SimulatedRun {
  readonly history: History
  readonly counts: RunCounts
}

const clientCount = 12
export const watchedPrefixes = ['/', '/', '/a/', '/b/'] as const
export const storeKeys: readonly string[] = ['/a/', '/b/', '/c'].flatMap((prefix) =>
  Array.from({ length: 8 }, (_, i) => `${prefix}${i}`),
)

export async function simulateStore(options: SimulationOptions): Promise<SimulatedRun> {
  const clock = new VirtualClock()
  const run = new Simulation(options, clock)
  let isOver = false
  const result = run.run().finally(() => {
    isOver = true
  })
  result.catch(() => undefined)
  while (!isOver) {
    if (await clock.advanceToNext()) continue
    await drainMicrotasks()
    if (!isOver && clock.pending.length === 0) throw new Error(`The run with seed ${options.seed} waits for nothing`)
  }
  return result
}

class Simulation {
  readonly #options: SimulationOptions
  readonly #clock: VirtualClock
  readonly #random: Random
  readonly #disk: SimulatedDisk
  readonly #operations: Operation[] = []
  readonly #watches: WatchCall[] = []
  readonly #restarts: { time: number; floor: number }[] = []
  #target: Promise<Target>
  #ready: (target: Target) => void = () => undefined
  #down: (text: 'down') => void = () => undefined
  #store: Store | undefined
  #time = 0
  #isEnding = false
  #faults = 0

  constructor(options: SimulationOptions, clock: VirtualClock) {
    this.#options = options
    this.#clock = clock
    this.#random = seededRandom(options.seed)
    this.#disk = new SimulatedDisk(clock, this.#random.fork('disk'))
    this.#target = this.#nextTarget()
  }

  async run(): Promise<SimulatedRun> {
    const random = this.#random
    // Small logs and histories, so that rotations and compactions are as frequent as crashes.
    const trims = random.int(3) === 0
    const limits = {
      ...(trims ? { historyBytes: 3000 + random.int(30_000) } : {}),
      snapshotBytes: 500 + random.int(20_000),
    }
    const work: Workload = {
      operations: this.#operations,
      watches: this.#watches,
      keys: storeKeys,
      start: 1,
      prefixes: ['/', '/a/', '/b/', '/c', '/a/1'],
      terse: false,
      compactions: random.int(2) === 0 ? 0.01 : 0,
      time: () => ++this.#time,
      target: () => this.#target,
      pause: (millis) => this.#clock.sleep(millis),
      isOver: () => this.#operations.length >= this.#options.operations,
    }
    await this.#open(limits)
    const watchers = watchedPrefixes.map(
      (prefix, i) => new RecordedWatcher(`w${i}`, work, random.fork(`watcher ${i}`), prefix, 1),
    )
    const watching = watchers.map((watcher) => watcher.run())
    const clients = Array.from(
      { length: clientCount },
      (_, i) => new RecordedClient(`c${i}`, work, random.fork(`client ${i}`)),
    )
    const working = Promise.all(clients.map((client) => client.run())).finally(() => {
      this.#isEnding = true
    })
    await Promise.all([working, this.#strike(limits)])
    await this.#settle(work, watchers, limits)
    await Promise.all(watching)
    const operations = this.#operations
    const history = { start: 1, dense: true, trims, operations, watches: this.#watches, restarts: this.#restarts }
    const events = this.#watches.reduce((sum, watch) => sum + watch.events.length, 0)
    const crashes = this.#restarts.length
    return { history, counts: { operations: operations.length, events, crashes, faults: this.#faults } }
  }

  /** Restarts once more, reads everything and lets the watches catch up. */
  async #settle(work: Workload, watchers: readonly RecordedWatcher[], limits: Limits): Promise<void> {
    if (this.#options.backend === 'durable') await this.#restart('power', limits)
    const last = new RecordedClient('end', work, this.#random.fork('end'))
    for (const key of storeKeys) await last.get(key)
    await last.list('/', 1000)
    const revision = await (await this.#target).store.revision()
    for (let waited = 0; watchers.some(({ reached }) => reached < revision); waited++) {
      await this.#clock.sleep(20)
      // A watch of a store that forgets to wake it never ends.
      if (waited > 1000) throw new Error(`A watch stays at ${watchers.map(({ reached }) => reached)} of ${revision}`)
    }
    for (const watcher of watchers) watcher.stop()
  }

  /** Lets the disk and the process fail until the clients have finished. */
  async #strike(limits: Limits): Promise<void> {
    const random = this.#random.fork('faults')
    while (!this.#isEnding) {
      await this.#clock.sleep(2 + random.int(40))
      if (this.#isEnding) return
      const fault = random.next()
      if (fault < 0.1) {
        this.#faults++
        this.#clock.setNow(this.#clock.now() + (random.int(3) - 1) * random.int(10_000_000))
      } else if (this.#options.backend === 'memory') continue
      else if (fault < 0.45) await this.#restart('power', limits)
      else if (fault < 0.65) await this.#restart('kill', limits)
      else if (fault < 0.7) await this.#restart('stop', limits)
      else {
        this.#faults++
        this.#disk.fault = fault < 0.8 ? 'full' : fault < 0.88 ? 'read-only' : 'failing sync'
        await this.#clock.sleep(random.int(60))
        const mustRestart = this.#disk.fault !== 'full'
        this.#disk.fault = 'none'
        if (mustRestart || random.int(2) === 0) await this.#restart(random.int(2) === 0 ? 'power' : 'kill', limits)
      }
    }
  }

  async #restart(how: 'power' | 'kill' | 'stop', limits: Limits): Promise<void> {
    this.#target = this.#nextTarget()
    if (how === 'stop') await this.#store?.[Symbol.asyncDispose]()
    this.#down('down')
    this.#end(how)
    // Recovery may be interrupted, too.
    while (this.#random.int(4) === 0) {
      const opening = this.#openStore(limits).catch(failed)
      await Promise.race([opening, this.#clock.sleep(this.#random.int(20))])
      this.#end(this.#random.int(2) === 0 ? 'power' : 'kill')
    }
    await this.#open(limits)
  }

  #end(how: 'power' | 'kill' | 'stop'): void {
    if (how === 'power') this.#disk.losePower(randomSurvival(this.#random))
    else this.#disk.kill()
  }

  #nextTarget(): Promise<Target> {
    return new Promise((resolve) => {
      this.#ready = resolve
    })
  }

  async #open(limits: Limits): Promise<void> {
    const isFirst = this.#store === undefined
    const snapshots = this.#disk.names.filter((name) => /^snapshot-\d+$/.test(name))
    const floor = Math.max(0, ...snapshots.map((name) => Number(name.slice('snapshot-'.length))))
    const store = await this.#openStore(limits)
    if (!isFirst) this.#restarts.push({ time: ++this.#time, floor })
    this.#store = store
    const down = new Promise<'down'>((resolve) => {
      this.#down = resolve
    })
    const { spoilStore } = this.#options
    this.#ready({ store: spoilStore ? spoilStore(store, this.#random) : store, down })
  }

  async #openStore(limits: Limits): Promise<Store> {
    if (this.#options.backend === 'memory') return new MemoryStore(limits)
    const disk = this.#disk.start()
    const { spoilDisk } = this.#options
    return openDurableStore('simulated', { ...limits, disk: spoilDisk ? spoilDisk(disk, this.#random) : disk })
  }
}

interface Limits {
  readonly historyBytes?: number
  readonly snapshotBytes: number
}

function failed(error: unknown): void {
  if (!(error instanceof StorageError)) throw error
}
