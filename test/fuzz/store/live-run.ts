// One run of concurrent clients on stores of other processes, in real time. The seed determines what clients call and what fails, but
// not the moments.
import { type Clock, type Random, seededRandom, systemClock } from '@kubewright/base'
import { openEtcdStore, type Store } from '@kubewright/storage'
import type { EtcdCluster } from '../../../packages/storage/src/testdata/etcd-cluster.ts'
import type { ServerGroup } from '../../servers/server-group.ts'
import type { Monkey } from '../chaos/monkey.ts'
import { ApiStore } from './api-store.ts'
import type { History, Operation, WatchCall } from './history.ts'
import { RecordedClient, RecordedWatcher, type Workload } from './recorded-client.ts'
import { type SimulatedRun, storeKeys, watchedPrefixes } from './simulate-store.ts'

/** What a run needs. */
export interface LiveRunOptions {
  readonly seed: string
  readonly operations: number
  readonly etcd: EtcdCluster
  /** The servers on the cluster; undefined for clients of etcd itself. */
  readonly group: ServerGroup | undefined
  readonly monkey: Monkey
  /** The mean time between two kills, in milliseconds. */
  readonly killEvery: number
}

const clientCount = 12
const storeCount = 3
const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** The wall time of the machine, set back and forth. */
class JumpingClock implements Clock {
  #offset = 0
  jump(millis: number): void {
    this.#offset += millis
  }
  now(): number {
    return systemClock.now() + this.#offset
  }
  nowMicros(): number {
    return systemClock.nowMicros() + this.#offset * 1000
  }
  monotonic(): number {
    return systemClock.monotonic()
  }
  setTimer: Clock['setTimer'] = (delay, callback, label) => systemClock.setTimer(delay, callback, label)
  sleep: Clock['sleep'] = (delay, options) => systemClock.sleep(delay, options)
}

export async function runLive(options: LiveRunOptions): Promise<SimulatedRun> {
  const { group, seed, monkey } = options
  const random = seededRandom(seed)
  const clock = new JumpingClock()
  // Objects of different runs are in different places, so every run starts without objects.
  const stores = await openStores(options, clock)
  const operations: Operation[] = []
  const watches: WatchCall[] = []
  const start = await newest(stores)
  const before = strikes(monkey)
  let time = 0
  let turn = 0
  let isOver = false
  const down = new Promise<'down'>(() => undefined)
  const work: Workload = {
    operations,
    watches,
    start,
    keys: storeKeys.filter((key) => !key.startsWith('/c')),
    prefixes: ['/', '/a/', '/b/'],
    terse: group !== undefined,
    compactions: group ? 0 : 0.003,
    time: () => ++time,
    // Every call goes to another store or server.
    target: async () => ({ store: stores[turn++ % stores.length]!, down }),
    pause: (millis) => pause(millis / 4),
    // A run has at least one kill.
    isOver: () => isOver || (operations.length >= options.operations && strikes(monkey) > before),
  }
  let faults = 0
  const watchers = watchedPrefixes.map(
    (prefix, i) => new RecordedWatcher(`w${i}`, work, random.fork(`watcher ${i}`), prefix, start),
  )
  try {
    const watching = watchers.map((watcher) => watcher.run())
    const clients = Array.from(
      { length: clientCount },
      (_, i) => new RecordedClient(`c${i}`, work, random.fork(`client ${i}`)),
    )
    const working = Promise.all(clients.map((client) => client.run())).finally(() => {
      isOver = true
    })
    working.catch(() => undefined)
    let next = Date.now() + wait(random, options.killEvery)
    while (!isOver) {
      await pause(20)
      if (Date.now() < next) continue
      next = Date.now() + wait(random, options.killEvery)
      faults++
      clock.jump((random.int(3) - 1) * random.int(10_000_000))
      await monkey.strike()
    }
    await working
    await monkey.heal()
    await settle(work, stores, watchers, random)
    await Promise.all(watching)
    const history: History = {
      start,
      dense: group === undefined,
      trims: group !== undefined,
      operations,
      watches,
      restarts: [],
    }
    const events = watches.reduce((sum, watch) => sum + watch.events.length, 0)
    return { history, counts: { operations: operations.length, events, crashes: strikes(monkey) - before, faults } }
  } finally {
    isOver = true
    for (const watcher of watchers) watcher.stop()
    for (const store of stores) await store[Symbol.asyncDispose]()
  }
}

const wait = (random: Random, mean: number): number => (0.5 + random.next()) * mean

const strikes = ({ counts }: Monkey): number => counts.memberKills + counts.serverKills + counts.serverStops

async function openStores({ seed, etcd, group }: LiveRunOptions, clock: Clock): Promise<Store[]> {
  const place = seed.toLowerCase().replace(/[^a-z0-9]/g, '-')
  if (group) {
    const tokens = new Map<string, string>()
    const stores = Array.from({ length: group.size }, (_, i) => new ApiStore(group.kubeconfig(i), place, tokens))
    await stores[0]!.prepare(['a', 'b'])
    return stores
  }
  const keyPrefix = `/${place}/`
  return Promise.all(
    Array.from({ length: storeCount }, () => openEtcdStore({ endpoints: etcd.urls, keyPrefix, clock })),
  )
}

/** The newest revision, as soon as a store answers. */
async function newest(stores: readonly Store[]): Promise<number> {
  for (let i = 0; ; i++) {
    try {
      return (await stores[i % stores.length]!.list({ prefix: '/' })).revision
    } catch (error) {
      if (i > 600) throw error
      await pause(200)
    }
  }
}

/** Reads everything and lets the watches catch up. */
async function settle(
  work: Workload,
  stores: readonly Store[],
  watchers: readonly RecordedWatcher[],
  random: Random,
): Promise<void> {
  await newest(stores)
  const last = new RecordedClient('end', work, random.fork('end'))
  for (const key of work.keys) await last.get(key)
  await last.list('/', 1000)
  // A last change for every prefix: a watch may have no progress without one.
  const ends = new Map<string, number>()
  for (const prefix of ['/a/', '/b/']) ends.set(prefix, await last.replace(`${prefix}0`))
  ends.set('/', ends.get('/b/')!)
  const isBehind = ({ prefix, reached }: RecordedWatcher): boolean => reached < ends.get(prefix)!
  for (let waited = 0; watchers.some(isBehind); waited++) {
    await pause(50)
    if (waited > 1200) throw new Error(`A watch stays at ${watchers.map(({ reached }) => reached)} of ${ends.get('/')}`)
  }
  for (const watcher of watchers) watcher.stop()
}
