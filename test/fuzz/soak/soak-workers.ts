// Loads a server with workers for a long time while its processes are killed, and checks that writes and events stay exact.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Random, seededRandom } from '@kubewright/base'
import { freePort } from '../../../packages/storage/src/testdata/free-port.ts'
import { configMap, Requests } from '../../up/requests.ts'
import { UpProcess } from '../../up/up-process.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const writers = 4
const watchers = 6
const keysPerWriter = 25

/** Options of {@link soakWorkers}. */
export interface SoakOptions {
  readonly seed: string
  readonly workers: number
  readonly millis: number
  /** The mean time between two kills. Every third kill is of the main process. */
  readonly killMillis: number
  readonly onProgress?: ((text: string) => void) | undefined
}

/** The result of {@link soakWorkers}. */
export interface SoakReport {
  acknowledged: number
  /** Writes without a response, of which a later read decided whether they were made. */
  undecided: number
  events: number
  /** Watches that continued from their last version after a closed connection. */
  resumed: number
  /** Watches that listed again, because their version was too old. */
  relisted: number
  /** Watchers that left and were replaced. */
  left: number
  killedWorkers: number
  killedMains: number
  /** The largest resident memory of all processes together, in MiB, in each tenth of the time. */
  readonly residentMiB: number[]
  readonly mistakes: string[]
}

interface Seen {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data?: { readonly value?: string }
}

/** The number that the writer of an object increments with every write, over deletions too. */
const serialOf = ({ data }: Seen): number => Number(data?.value?.split(' ')[0] ?? Number.NaN)

/** Runs the load until the time is over, then compares all views. */
export async function soakWorkers(options: SoakOptions): Promise<SoakReport> {
  const soak = new Soak(options)
  try {
    return await soak.run()
  } finally {
    await soak[Symbol.asyncDispose]()
  }
}

class Soak implements AsyncDisposable {
  readonly #options: SoakOptions
  readonly #random: Random
  readonly #folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'kubewright-soak-'))
  readonly #kubeconfig = join(this.#folder, 'kubeconfig')
  #up: UpProcess | undefined
  #port: string | undefined
  #until = 0
  /** The stored objects by name, with their serials; undefined for deleted ones. One writer changes each name. */
  readonly #expected = new Map<string, { readonly serial: number; readonly version: string | undefined }>()
  readonly #report: SoakReport = {
    acknowledged: 0,
    undecided: 0,
    events: 0,
    resumed: 0,
    relisted: 0,
    left: 0,
    killedWorkers: 0,
    killedMains: 0,
    residentMiB: [],
    mistakes: [],
  }

  constructor(options: SoakOptions) {
    this.#options = options
    this.#random = seededRandom(options.seed)
  }

  async run(): Promise<SoakReport> {
    const started = Date.now()
    await this.#start()
    this.#until = Date.now() + this.#options.millis
    const killing = this.#kill()
    const sampling = this.#sample(started)
    const writing = Promise.all(Array.from({ length: writers }, (_, i) => this.#write(i)))
    const watching = Promise.all(Array.from({ length: watchers }, (_, i) => this.#watch(i)))
    await Promise.all([killing, writing])
    await Promise.all([watching, sampling])
    await this.#compare()
    return this.#report
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#up?.[Symbol.asyncDispose]()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #isOver(): boolean {
    return Date.now() > this.#until
  }

  #mistake(text: string): void {
    this.#report.mistakes.push(text)
    this.#options.onProgress?.(`MISTAKE ${text}`)
  }

  async #start(): Promise<void> {
    // The same port after each restart, so that clients find the server again.
    this.#port ??= String(await freePort())
    const flags = ['--workers', String(this.#options.workers), '--data', 'data', '--controllers', 'none']
    this.#up = await UpProcess.start(['--port', this.#port, ...flags, '--kubeconfig', this.#kubeconfig], this.#folder)
  }

  /** The pids of the workers that have not been killed. */
  #workerPids(): number[] {
    const pids = this.#up?.notes.flatMap((line) => /^Worker is ready worker=\d+ pid=(\d+)$/.exec(line)?.[1] ?? []) ?? []
    return pids.map(Number).filter(isAlive)
  }

  async #kill(): Promise<void> {
    const random = this.#random.fork('kill')
    for (let kill = 1; ; kill++) {
      await pause(this.#options.killMillis * (0.5 + random.next()))
      if (this.#isOver) return
      const workers = this.#workerPids()
      if (kill % 3 === 0 || workers.length === 0) {
        await this.#up?.stop('SIGKILL')
        await this.#start()
        this.#report.killedMains++
      } else {
        process.kill(workers[random.int(workers.length)]!, 'SIGKILL')
        this.#report.killedWorkers++
      }
    }
  }

  async #sample(started: number): Promise<void> {
    const { residentMiB } = this.#report
    let last = 0
    while (!this.#isOver) {
      await pause(500)
      const pids = [this.#up?.child.pid ?? 0, ...this.#workerPids()]
      const resident = pids.reduce((sum, pid) => sum + residentMiBOf(pid), 0)
      const tenth = Math.min(9, Math.floor(((Date.now() - started) * 10) / this.#options.millis))
      residentMiB[tenth] = Math.max(residentMiB[tenth] ?? 0, Math.round(resident))
      if (tenth === last) continue
      last = tenth
      const { acknowledged, events, killedWorkers, killedMains, mistakes } = this.#report
      this.#options.onProgress?.(
        `${tenth}0 %: ${acknowledged} writes, ${events} events, killed ${killedWorkers} workers and ${killedMains} main processes, ${residentMiB[tenth]} MiB, ${mistakes.length} mistakes`,
      )
    }
  }

  /** Sends a request until there is a response. Returns the number of attempts without one as well. */
  async #send(client: Requests, method: string, path: string, body?: unknown) {
    for (let attempts = 1; ; attempts++) {
      try {
        // Node sends no length for the body of a DELETE by itself.
        const text = body === undefined ? undefined : JSON.stringify(body)
        const length: Record<string, string> =
          text === undefined ? {} : { 'content-length': String(Buffer.byteLength(text)) }
        const reply = await client.send(method, path, text, length)
        if (reply.status < 500 && reply.status !== 429) return { ...reply, attempts }
      } catch {
        // The process was killed, or the server is restarting.
      }
      await pause(20)
      if (Date.now() > this.#until + 60_000) throw new Error(`No response to ${method} ${path}`)
    }
  }

  async #write(writer: number): Promise<void> {
    const random = this.#random.fork(`writer ${writer}`)
    using client = new Requests(this.#kubeconfig, { maxSockets: 1 })
    while (!this.#isOver) {
      const name = `w${writer}-${random.int(keysPerWriter)}`
      const before = performance.now()
      await this.#writeOnce(client, name, random)
      // Half of the time, so that the load stays at about 50 %.
      await pause(performance.now() - before)
    }
  }

  async #writeOnce(client: Requests, name: string, random: Random): Promise<void> {
    const { serial = 0, version } = this.#expected.get(name) ?? {}
    const isDelete = version !== undefined && random.int(5) === 0
    const next = isDelete ? serial : serial + 1
    const object = configMap(name, `${next} ${'x'.repeat(random.int(2000))}`)
    const send = (): Promise<{ status: number; body: Seen; attempts: number }> => {
      if (isDelete)
        return this.#send(client, 'DELETE', `${maps}/${name}`, { preconditions: { resourceVersion: version } })
      if (version === undefined) return this.#send(client, 'POST', maps, object)
      const metadata = { name, resourceVersion: version }
      return this.#send(client, 'PUT', `${maps}/${name}`, { ...object, metadata })
    }
    const { status, body, attempts } = await send()
    if (status < 300) {
      this.#report.acknowledged++
      this.#expected.set(name, { serial: next, version: isDelete ? undefined : body.metadata.resourceVersion })
      return
    }
    // Only a repeated request may fail: its first attempt may have been made.
    if (attempts === 1)
      this.#mistake(`${name}: a write of serial ${next} failed with ${status}: ${JSON.stringify(body)}`)
    this.#report.undecided++
    const found = await this.#send(client, 'GET', `${maps}/${name}`)
    const stored = found.status === 404 ? undefined : (found.body as Seen)
    const isMade = isDelete ? stored === undefined : stored !== undefined && serialOf(stored) === next
    if (!isMade)
      this.#mistake(`${name}: serial ${next} was refused with ${status}, but ${found.text.slice(0, 200)} is stored`)
    this.#expected.set(name, { serial: next, version: stored?.metadata.resourceVersion })
  }

  /** Runs one watcher after the other; most leave after a while. The last one stays until it has seen everything. */
  async #watch(watcher: number): Promise<void> {
    const random = this.#random.fork(`watcher ${watcher}`)
    while (!this.#isOver) {
      const leaves = Date.now() + this.#options.killMillis * (1 + 4 * random.next())
      const isLast = leaves > this.#until
      await new Watcher(this.#kubeconfig, this.#report, (text) => this.#mistake(`watcher ${watcher}: ${text}`)).run(
        isLast ? this.#until + 500 : leaves,
      )
      if (!isLast) this.#report.left++
    }
  }

  /** Compares what is stored with what was acknowledged, through every process. */
  async #compare(): Promise<void> {
    const clients = Array.from({ length: 3 * (this.#options.workers + 1) }, () => {
      return new Requests(this.#kubeconfig, { maxSockets: 1 })
    })
    for (const client of clients) {
      const { body } = await this.#send(client, 'GET', maps)
      const stored = new Map((body.items as Seen[]).map((one) => [one.metadata.name, one]))
      for (const [name, { serial, version }] of this.#expected) {
        const found = stored.get(name)
        stored.delete(name)
        if (version === undefined ? found === undefined : found && serialOf(found) === serial) continue
        this.#mistake(`${name} has serial ${found && serialOf(found)} instead of ${version && serial}`)
      }
      for (const name of stored.keys()) if (/^w\d/.test(name)) this.#mistake(`${name} is stored, but was deleted`)
      client[Symbol.dispose]()
    }
  }
}

/** Follows all objects. The serial of an object must grow by one with each event, which reveals lost and repeated ones. */
class Watcher {
  readonly #kubeconfig: string
  readonly #report: SoakReport
  readonly #mistake: (text: string) => void
  readonly #serials = new Map<string, number>()
  readonly #live = new Set<string>()
  #version = ''

  constructor(kubeconfig: string, report: SoakReport, mistake: (text: string) => void) {
    this.#kubeconfig = kubeconfig
    this.#report = report
    this.#mistake = mistake
  }

  async run(until: number): Promise<void> {
    using client = new Requests(this.#kubeconfig)
    for (let isFirst = true; Date.now() < until; isFirst = false) {
      try {
        if (this.#version === '') await this.#list(client)
        else if (!isFirst) this.#report.resumed++
        const seconds = Math.max(1, Math.ceil((until - Date.now()) / 1000))
        const query = `watch=1&timeoutSeconds=${seconds}&resourceVersion=${this.#version}`
        await client.until(`${maps}?${query}`, (object: Seen, type) => this.#event(object, type) || Date.now() > until)
      } catch {
        // The connection was closed, or the watch has ended. It resumes.
        await pause(20)
      }
    }
  }

  async #list(client: Requests): Promise<void> {
    const { status, body } = await client.send('GET', maps)
    if (status !== 200) throw new Error(`the list failed with ${status}`)
    this.#serials.clear()
    this.#live.clear()
    for (const item of body.items as Seen[]) {
      this.#serials.set(item.metadata.name, serialOf(item))
      this.#live.add(item.metadata.name)
    }
    this.#version = body.metadata.resourceVersion
  }

  /** Returns true when the watch must start again with a list. */
  #event(object: Seen, type: string): boolean {
    if (type === 'ERROR') {
      this.#report.relisted++
      this.#version = ''
      return true
    }
    const { name, resourceVersion } = object.metadata
    if (Number(resourceVersion) <= Number(this.#version)) {
      this.#mistake(`${type} of ${name} at ${resourceVersion} came after version ${this.#version}`)
    }
    this.#version = resourceVersion
    if (!/^w\d/.test(name)) return false
    this.#report.events++
    const serial = serialOf(object)
    const known = this.#serials.get(name)
    if (known !== undefined && serial !== known + (type === 'DELETED' ? 0 : 1)) {
      this.#mistake(`${type} of ${name} has serial ${serial} after ${known}`)
    }
    if ((type === 'ADDED') === this.#live.has(name)) this.#mistake(`${type} of ${name} has the wrong type`)
    this.#serials.set(name, serial)
    if (type === 'DELETED') this.#live.delete(name)
    else this.#live.add(name)
    return false
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function residentMiBOf(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
