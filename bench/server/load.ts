import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get, type RequestOptions } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { crdOf } from '@kubewright/api'
import { WebSite, webSiteDraft } from '../fixtures/web-site.ts'
import type { BenchedServer } from './benched-server.ts'
import type { Http2Client } from './http2-client.ts'

/** The path of the ConfigMaps of the loads. */
export const maps = '/api/v1/namespaces/default/configmaps'
/** With the metadata that the server adds, an object has about 1.5 KiB. */
const payload = 'x'.repeat(1100)

/** The CPU time of the server per operation, and the operations per second. */
export interface Measured {
  readonly cpuMillis: number
  readonly perSecond: number
}

/** One request of a load. */
export type Operation = (client: Http2Client, i: number) => Promise<unknown>

/** Runs an operation `count` times, distributed over clients that each wait for their responses. */
export async function load(
  server: BenchedServer,
  clients: number,
  count: number,
  operation: Operation,
): Promise<Measured> {
  const pool = Array.from({ length: clients }, () => server.client())
  let next = 0
  const worker = async (client: Http2Client): Promise<void> => {
    for (let i = next++; i < count; i = next++) await operation(client, i)
  }
  const cpu = server.cpuMillis()
  const start = performance.now()
  await Promise.all(pool.map(worker))
  const perSecond = (count * 1000) / (performance.now() - start)
  const cpuMillis = (server.cpuMillis() - cpu) / count
  for (const client of pool) client[Symbol.dispose]()
  return { cpuMillis, perSecond }
}

/** Returns an operation that creates ConfigMaps `map-0`, `map-1` and so on. Each server needs its own series. */
export function creates(): Operation {
  let serial = 0
  return (client) => client.send('POST', maps, { metadata: { name: `map-${serial++}` }, data: { payload } })
}

/** The body of an update of a ConfigMap. */
export function updated(name: string, serial: number): unknown {
  return { metadata: { name }, data: { payload, i: String(serial) } }
}

/** Defines the custom resource of the machinery suite with two rules. Returns the operation that creates an object. */
export async function defineSites(server: BenchedServer): Promise<Operation> {
  const crd = structuredClone(crdOf(WebSite)) as unknown as {
    spec: { versions: { schema: { openAPIV3Schema: { properties: { spec: Record<string, unknown> } } } }[] }
  }
  crd.spec.versions[0]!.schema.openAPIV3Schema.properties.spec['x-kubernetes-validations'] = [
    { rule: 'self.replicas <= self.maxReplicas' },
    { rule: "self.paths.all(p, p.path.startsWith('/'))" },
  ]
  using client = server.client()
  await client.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
  const sites = '/apis/example.com/v1/namespaces/default/websites'
  for (let tries = 0; ; tries++) {
    const served = await client.send('GET', sites).catch(() => undefined)
    if (served !== undefined) break
    if (tries === 1000) throw new Error('the custom resource was not served')
    await sleep(10)
  }
  const { spec, ...draft } = webSiteDraft() as { spec: Record<string, unknown> }
  const { unknown: _, ...known } = spec
  let serial = 0
  return (each) => each.send('POST', sites, { ...draft, metadata: { name: `site-${serial++}` }, spec: known })
}

/** How watchers connect: with a connection each, or 100 streams of HTTP/2 on each connection, as the informers of one client. */
export type Protocol = 'HTTP/1.1' | 'HTTP/2' | 'HTTP/2, shared'

const streamsPerConnection = 100
/** The time in which a watch must deliver its first event. */
const openMillis = 20_000

/** Opens watches of a path, one after the other. Each has received its first event when this resolves. */
async function openWatches(
  server: BenchedServer,
  protocol: Protocol,
  count: number,
  path: string,
  onEvents: (count: number) => void,
): Promise<Disposable> {
  const counter = (): ((chunk: Buffer) => void) => {
    let previous: number | undefined
    return (chunk) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) {
        if ((at === 0 ? previous : chunk[at - 1]) === closing) onEvents(1)
      }
      previous = chunk.at(-1)
    }
  }
  const clients: Disposable[] = []
  const { server: url, tls, headers } = server.target()
  for (let i = 0; i < count; i++) {
    if (protocol === 'HTTP/1.1') {
      const options = { ...tls, host: url.hostname, port: url.port, path, headers, agent: false as const }
      const request = get(options as RequestOptions)
      request.on('error', () => undefined)
      clients.push({ [Symbol.dispose]: () => request.destroy() })
      const [response] = (await once(request, 'response')) as [IncomingMessage]
      response.on('data', counter())
      response.on('error', () => undefined)
      await once(response, 'data', { signal: AbortSignal.timeout(openMillis) })
      continue
    }
    if (protocol === 'HTTP/2' || i % streamsPerConnection === 0) clients.push(server.client())
    const stream = (clients.at(-1) as Http2Client).open('GET', path)
    stream.on('data', counter())
    // The stream is cut off at the end.
    stream.on('error', () => undefined)
    await once(stream, 'data', { signal: AbortSignal.timeout(openMillis) })
  }
  return {
    [Symbol.dispose]: () => {
      for (const client of clients) client[Symbol.dispose]()
    },
  }
}

/** The last character of an event. Chunks of HTTP/1.1 end lines of their own. */
const closing = '}'.charCodeAt(0)

/**
 * Updates one watched object until all watchers have received every update, in several rounds with the same watchers, of which the first
 * is a warm-up. Returns the best round by CPU. Figures are per event.
 */
export async function fanOut(
  server: BenchedServer,
  name: string,
  watchers: number,
  updates: number,
  protocol: Protocol = 'HTTP/2',
): Promise<Measured> {
  using writer = server.client()
  await writer.send('POST', maps, { metadata: { name }, data: { payload } })
  let received = 0
  let done = (): void => undefined
  let wanted = Number.POSITIVE_INFINITY
  const path = `${maps}?watch=1&fieldSelector=metadata.name%3D${name}`
  using _watches = await openWatches(server, protocol, watchers, path, (events) => {
    received += events
    if (received >= wanted) done()
  })
  let serial = 0
  const round = async (): Promise<Measured> => {
    const all = new Promise<void>((resolve) => (done = resolve))
    const before = received
    wanted = before + watchers * updates
    const cpu = server.cpuMillis()
    const start = performance.now()
    for (let i = 0; i < updates; i++) {
      await writer.send('PUT', `${maps}/${name}`, updated(name, serial++))
    }
    let last = performance.now()
    // A server may end watches that do not keep up: only the events that arrived count then.
    for (let known = -1; received < wanted && received > known; ) {
      known = received
      last = performance.now()
      await Promise.race([all, sleep(stalledMillis, undefined, { ref: false })])
    }
    const events = received - before
    const millis = (received < wanted ? last : performance.now()) - start
    return { perSecond: (events * 1000) / millis, cpuMillis: (server.cpuMillis() - cpu) / events }
  }
  await round()
  // Without the await, the watches would be disposed before the rounds.
  return await best(round)
}

/** Watches without an event for this time have ended. */
const stalledMillis = 10_000

/** The resident memory in KiB that one idle watch adds, of the given number. The server must be fresh. */
export async function idleWatch(server: BenchedServer, watchers: number, protocol: Protocol): Promise<number> {
  using writer = server.client()
  await writer.send('POST', maps, { metadata: { name: 'idle' }, data: {} })
  const path = `${maps}?watch=1&fieldSelector=metadata.name%3Didle`
  // The first watches also pay for code, pools and the young generation of the heap.
  const warm = await openWatches(server, protocol, watchers / 2, path, () => undefined)
  warm[Symbol.dispose]()
  const before = await settledMiB(server)
  using _watches = await openWatches(server, protocol, watchers, path, () => undefined)
  return (((await settledMiB(server)) - before) * 1024) / watchers
}

/** The resident memory when it no longer changes: a server releases the garbage of its start, or of new watches, a few seconds later. */
async function settledMiB(server: BenchedServer): Promise<number> {
  let last = server.residentMiB()
  for (let quiet = 0, seconds = 0; quiet < 3 && seconds < 20; seconds++) {
    await sleep(1000)
    const now = server.residentMiB()
    quiet = Math.abs(now - last) < 0.5 ? quiet + 1 : 0
    last = now
  }
  return last
}

/** Returns the best of three rounds by CPU, because other work on the machine only adds to it. */
export async function best(run: (round: number) => Promise<Measured>): Promise<Measured> {
  const results: Measured[] = []
  for (let round = 0; round < 3; round++) results.push(await run(round))
  return results.reduce((a, b) => (b.cpuMillis < a.cpuMillis ? b : a))
}
