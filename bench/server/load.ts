import { once } from 'node:events'
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

/** Updates one watched object until all watchers have received every update. Figures are per event. */
export async function fanOut(
  server: BenchedServer,
  name: string,
  watchers: number,
  updates: number,
): Promise<Measured> {
  using writer = server.client()
  await writer.send('POST', maps, { metadata: { name }, data: { payload } })
  const pool = Array.from({ length: watchers }, () => server.client())
  // The first event is the initial state of the object.
  let left = watchers * (updates + 1)
  let done = (): void => undefined
  const all = new Promise<void>((resolve) => (done = resolve))
  for (const client of pool) {
    const stream = client.open('GET', `${maps}?watch=1&fieldSelector=metadata.name%3D${name}`)
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) if (--left === 0) done()
    })
    // The stream is cut off at the end.
    stream.on('error', () => undefined)
    await once(stream, 'data')
  }
  const cpu = server.cpuMillis()
  const start = performance.now()
  for (let i = 0; i < updates; i++) {
    await writer.send('PUT', `${maps}/${name}`, { metadata: { name }, data: { payload, i: String(i) } })
  }
  await all
  const events = watchers * updates
  const result = {
    perSecond: (events * 1000) / (performance.now() - start),
    cpuMillis: (server.cpuMillis() - cpu) / events,
  }
  for (const client of pool) client[Symbol.dispose]()
  return result
}

/** Returns the best of three rounds by CPU, because other work on the machine only adds to it. */
export async function best(run: (round: number) => Promise<Measured>): Promise<Measured> {
  const results: Measured[] = []
  for (let round = 0; round < 3; round++) results.push(await run(round))
  return results.reduce((a, b) => (b.cpuMillis < a.cpuMillis ? b : a))
}
