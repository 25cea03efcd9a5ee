// Whole processes: `kubewright up` as built, on a durable store unless said otherwise, with clients in this process over HTTP/2.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { crdOf } from '@kubewright/api'
import { targetOfKubeconfig } from '../test/conformance/target.ts'
import { WebSite, webSiteDraft } from './fixtures/web-site.ts'
import type { Suite } from './harness.ts'

const root = join(import.meta.dirname, '..')
const maps = '/api/v1/namespaces/default/configmaps'
const listed = 10_000
const watchers = 100
/** With the metadata that the server adds, an object is about 1.5 KiB. */
const payload = 'x'.repeat(1100)
/** Ticks of /proc are hundredths of a second on Linux. */
const tickMillis = 10

class Server implements AsyncDisposable {
  readonly #child: ChildProcess
  readonly #folder: string
  /** From the start of the process to the ready line. */
  readonly readyMillis: number
  readonly readyCpuMillis: number

  private constructor(child: ChildProcess, folder: string, readyMillis: number) {
    this.#child = child
    this.#folder = folder
    this.readyMillis = readyMillis
    this.readyCpuMillis = this.cpuMillis()
  }

  static async start(...args: string[]): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), 'kubewright-bench-'))
    const start = performance.now()
    const child = spawn(
      process.execPath,
      [join(root, 'packages/cli/dist/main.js'), 'up', '--port', '0', '--controllers', 'none', ...args],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    await once(createInterface({ input: child.stdout! }), 'line')
    return new Server(child, folder, performance.now() - start)
  }

  cpuMillis(): number {
    const stat = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8')
    // The name in the second field may contain spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * tickMillis
  }

  residentMiB(): number {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))![1]) / 1024
  }

  client(): Client {
    const { server, ca, client } = targetOfKubeconfig(join(this.#folder, '.kubewright/kubeconfig'))
    return new Client(connect(server, { ...(ca === undefined ? {} : { ca }), ...client }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

class Client implements Disposable {
  readonly #session: ClientHttp2Session

  constructor(session: ClientHttp2Session) {
    this.#session = session
    session.setMaxListeners(0)
    // Requests report what goes wrong; a session also breaks when its server is stopped.
    session.on('error', () => undefined)
    // Large windows, so that a list is bounded by the server.
    session.once('connect', () => session.setLocalWindowSize(64 * 1024 * 1024))
  }

  open(method: string, path: string, body?: unknown): ClientHttp2Stream {
    const stream = this.#session.request({ ':method': method, ':path': path, 'content-type': 'application/json' })
    stream.end(body === undefined ? undefined : JSON.stringify(body))
    return stream
  }

  /** Sends a request and resolves with the length of the answer. */
  send(method: string, path: string, body?: unknown): Promise<number> {
    return new Promise((resolve, reject) => {
      const stream = this.open(method, path, body)
      let length = 0
      stream.on('response', (headers) => {
        if (Number(headers[':status']) >= 300) reject(new Error(`${method} ${path}: ${headers[':status']}`))
      })
      stream.on('data', (chunk: Buffer) => (length += chunk.length))
      stream.on('end', () => resolve(length))
      stream.on('error', reject)
    })
  }

  [Symbol.dispose](): void {
    this.#session.destroy()
  }
}

interface Measured {
  readonly cpuMillis: number
  readonly perSecond: number
}

/** Runs an operation so many times, spread over clients that each wait for their answers. */
async function load(
  server: Server,
  clients: number,
  count: number,
  operation: (client: Client, i: number) => Promise<unknown>,
): Promise<Measured> {
  const pool = Array.from({ length: clients }, () => server.client())
  let next = 0
  const worker = async (client: Client): Promise<void> => {
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

let serial = 0
const create = (client: Client): Promise<unknown> => {
  const name = `map-${serial++}`
  return client.send('POST', maps, { metadata: { name }, data: { payload } })
}

/** Defines the custom resource of the machinery suite, with two rules, and gives the operation that creates one. */
async function defineSites(server: Server): Promise<(client: Client) => Promise<unknown>> {
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
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const { spec, ...draft } = webSiteDraft() as { spec: Record<string, unknown> }
  const { unknown: _, ...known } = spec
  return (each) => each.send('POST', sites, { ...draft, metadata: { name: `site-${serial++}` }, spec: known })
}

/** Updates one object under the eyes of watchers, until all of them have seen every update. Figures are per event. */
async function fanOut(server: Server, updates: number): Promise<Measured> {
  using writer = server.client()
  const name = `fan-out-${serial++}`
  await writer.send('POST', maps, { metadata: { name }, data: { payload } })
  const pool = Array.from({ length: watchers }, () => server.client())
  // The first event is the object as it is.
  let left = watchers * (updates + 1)
  let done = (): void => undefined
  const all = new Promise<void>((resolve) => (done = resolve))
  for (const client of pool) {
    const stream = client.open('GET', `${maps}?watch=1&fieldSelector=metadata.name%3D${name}`)
    stream.on('data', (chunk: Buffer) => {
      for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) if (--left === 0) done()
    })
    // Cut off in the end.
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

async function starts(...args: string[]): Promise<{ cpu: number; wall: number; idle: number }> {
  let [cpu, wall, idle] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < 5; round++) {
    await using server = await Server.start(...args)
    cpu = Math.min(cpu, server.readyCpuMillis)
    wall = Math.min(wall, server.readyMillis)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    idle = Math.min(idle, server.residentMiB())
  }
  return { cpu, wall, idle }
}

/** The best of a few rounds by CPU: other work on the machine only ever adds to it. */
async function best(run: () => Promise<Measured>, rounds = 3): Promise<Measured> {
  const results: Measured[] = []
  for (let round = 0; round < rounds; round++) results.push(await run())
  return results.reduce((a, b) => (b.cpuMillis < a.cpuMillis ? b : a))
}

function line(
  work: string,
  figure: string,
  value: number,
  aim: number | undefined,
  rate: string,
  peer: string,
): string {
  const verdict = aim === undefined ? '' : value <= aim ? ` (aim ${aim}: met)` : ` (aim ${aim}: missed)`
  return `| ${work} | ${figure}${verdict} | ${rate} | ${peer} |`
}

/** What the server costs as a process. */
export const suite: Suite = {
  title: 'Server',
  about:
    'CPU of the process of `kubewright up`, as built, with clients in another process over HTTP/2 and TLS; objects are ConfigMaps of 1.5 KiB with managedFields. Writes are durable, answered when they are on disk, except in rows that say memory. Of three rounds (five for starts) the one with the least CPU is shown, with its rate. Figures of kube-apiserver v1.35.8 with etcd (CPU of both) were taken on another, loaded machine of this kind, with custom resources of that size: they give the order of magnitude, not a ratio.',
  report: async () => {
    execFileSync(process.execPath, ['--import', 'tsx', 'tools/bundle.ts'], { cwd: root, stdio: 'ignore' })
    const lines = ['| work | CPU | rate | kube-apiserver + etcd |', '|---|---|---|---|']
    const millis = (value: number): string => `${value < 10 ? value.toFixed(3) : value.toFixed(0)} ms`
    const each = (work: string, { cpuMillis, perSecond }: Measured, aim?: number, peer = '–'): void => {
      const rate = `${perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond)}/s`
      lines.push(line(work, millis(cpuMillis), cpuMillis, aim, rate, peer))
    }
    for (const [args, name] of [
      [['--memory'], 'memory'],
      [[], 'durable'],
    ] as const) {
      const { cpu, wall, idle } = await starts(...args)
      lines.push(line(`start to ready, ${name}`, millis(cpu), cpu, 300, `${wall.toFixed(0)} ms elapsed`, '3,900 ms'))
      lines.push(
        `| idle, ${name} | ${idle.toFixed(0)} MiB${idle <= 80 ? ' (aim 80: met)' : ' (aim 80: missed)'} | | 309 MiB |`,
      )
    }
    await using server = await Server.start()
    await load(server, 10, 3000, create)
    for (const clients of [1, 10, 50]) {
      const measured = await best(() => load(server, clients, clients === 1 ? 1000 : 2000, create))
      each(`create, ${clients} client${clients === 1 ? '' : 's'}`, measured, 0.6, 'about 6 ms')
    }
    const createSite = await defineSites(server)
    await load(server, 10, 3000, createSite)
    for (const clients of [1, 10]) {
      const maps = await best(() => load(server, clients, 1500, create))
      const sites = await best(() => load(server, clients, 1500, createSite))
      const share = `${((maps.cpuMillis / sites.cpuMillis) * 100).toFixed(0)} % of the rate of ConfigMaps, by CPU (aim 80)`
      each(`create a custom resource with rules, ${clients} client${clients === 1 ? '' : 's'}: ${share}`, sites)
    }
    const get = (client: Client, i: number): Promise<unknown> => client.send('GET', `${maps}/map-${i % 3000}`)
    await load(server, 10, 5000, get)
    for (const clients of [1, 10]) {
      const measured = await best(() => load(server, clients, 5000, get))
      each(`get, ${clients} client${clients === 1 ? '' : 's'}`, measured, 0.15, '3 to 4 ms')
    }
    await using other = await Server.start('--memory')
    await load(other, 10, listed, create)
    const list = (client: Client): Promise<unknown> => client.send('GET', maps)
    await load(other, 1, 3, list)
    each(
      `list of ${listed.toLocaleString('en')} objects, memory`,
      await best(() => load(other, 1, 5, list)),
      60,
      '110 to 125 ms for 1,000',
    )
    await using third = await Server.start('--memory')
    await fanOut(third, 200)
    each(`watch event to one of ${watchers} watchers, memory`, await best(() => fanOut(third, 300)))
    return lines
  },
}
