import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchedServer } from './benched-server.ts'
import {
  best,
  creates,
  defineSites,
  fanOut,
  idleWatch,
  load,
  type Measured,
  maps,
  type Operation,
  type Protocol,
  updated,
} from './load.ts'

/** The number of objects in the measured list. */
export const listed = 10_000
/** The requests before a measurement of writes: V8 has compiled and optimized their code after about so many. */
const warmUp = 15_000
/** The same for lists. */
const warmUpLists = 20
/** The numbers of watchers of the updated object. */
const watchers = [100, 1000]
/** The numbers of idle watches whose memory is measured: enough that their sum exceeds what the garbage of the start varies by. */
const idle = { shared: 2000, alone: 500 }
const protocols: readonly Protocol[] = ['HTTP/2', 'HTTP/1.1']

/** The minimum of several starts, separately for each figure. */
export interface Start {
  readonly cpuMillis: number
  readonly wallMillis: number
  readonly idleMiB: number
}

/** Starts a server several times. */
export async function measureStart(start: () => Promise<BenchedServer>, rounds: number): Promise<Start> {
  let least: Start = { cpuMillis: Infinity, wallMillis: Infinity, idleMiB: Infinity }
  for (let round = 0; round < rounds; round++) {
    await using server = await start()
    await sleep(1500)
    least = {
      cpuMillis: Math.min(least.cpuMillis, server.readyCpuMillis),
      wallMillis: Math.min(least.wallMillis, server.readyMillis),
      idleMiB: Math.min(least.idleMiB, server.residentMiB()),
    }
  }
  return least
}

const clientsText = (clients: number): string => `${clients} client${clients === 1 ? '' : 's'}`

/**
 * Measures creates and gets on one server: first those of a new process, then after a warm-up. `part` reduces the number of requests for
 * a slow server.
 */
export async function measureRequests(server: BenchedServer, part = 1): Promise<Map<string, Measured>> {
  const results = new Map<string, Measured>()
  const create = creates()
  const known = warmUp * part
  results.set('the first 1,000 creates of a process, 1 client', await load(server, 1, 1000, create))
  await load(server, 10, known, create)
  for (const clients of [1, 10, 50]) {
    const count = (clients === 1 ? 1000 : 2000) * part
    results.set(`create, ${clientsText(clients)}`, await best(() => load(server, clients, count, create)))
  }
  const createSite = await defineSites(server)
  await load(server, 10, warmUp * part, createSite)
  for (const clients of [1, 10]) {
    const work = `create a custom resource with rules, ${clientsText(clients)}`
    results.set(work, await best(() => load(server, clients, 1500 * part, createSite)))
  }
  const get: Operation = (client, i) => client.send('GET', `${maps}/map-${i % known}`)
  await load(server, 10, 5000 * part, get)
  for (const clients of [1, 10]) {
    results.set(`get, ${clientsText(clients)}`, await best(() => load(server, clients, 5000 * part, get)))
  }
  return results
}

/** Measures a complete list on a server without objects. */
export async function measureList(server: BenchedServer): Promise<Measured> {
  await load(server, 10, listed, creates())
  await load(server, 1, warmUpLists, (client) => client.send('GET', maps))
  return best(() => load(server, 1, 10, (client) => client.send('GET', maps)))
}

/** Measures events of one object to all its watchers, by work. */
export async function measureEvents(server: BenchedServer, part = 1): Promise<Map<string, Measured>> {
  const results = new Map<string, Measured>()
  using writer = server.client()
  await writer.send('POST', maps, { metadata: { name: 'warm-up' }, data: {} })
  await load(server, 1, warmUp * part, (client, i) => client.send('PUT', `${maps}/warm-up`, updated('warm-up', i)))
  let serial = 0
  for (const protocol of protocols) {
    for (const count of watchers) {
      const updates = Math.ceil((30_000 / count) * part)
      const measured = await fanOut(server, `fan-out-${serial++}`, count, updates, protocol)
      const work = `watch event to one of ${count.toLocaleString('en')} watchers, ${protocol}, memory`
      results.set(work, measured)
    }
  }
  return results
}

/** Measures the memory of an idle watch in KiB, by work. */
export async function measureIdleWatches(start: () => Promise<BenchedServer>): Promise<Map<string, number>> {
  const results = new Map<string, number>()
  for (const protocol of ['HTTP/2, shared', ...protocols] as const) {
    await using server = await start()
    const isShared = protocol === 'HTTP/2, shared'
    const count = isShared ? idle.shared : idle.alone
    const by = isShared ? 'HTTP/2, 100 per connection' : `${protocol}, a connection each`
    results.set(`idle watch, one of ${count.toLocaleString('en')}, ${by}`, await idleWatch(server, count, protocol))
  }
  return results
}
