// Measures complete processes: a server with prepared responses, and one consumer at a time, bundled like an
// application.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { bundlePrograms } from './bundle-programs.ts'
import type { Suite } from './harness.ts'

const folder = join(import.meta.dirname, 'client')
const root = join(import.meta.dirname, '..')
const rounds = 3
const events = 100_000
const run = promisify(execFile)

/** The output of a consumer: see `consumer-report.ts`. */
interface Figures {
  readonly syncMiB: number
  readonly readMillis: number
  readonly eventMillis: number
  readonly elapsed: number
  readonly peakMiB: number
}

/** The output of a controller: see `kubewright-controller.ts`. */
interface Reconciles {
  readonly perReconcile: number
  readonly perSecond: number
  readonly storm: number
  readonly peakMiB: number
}

interface Source extends AsyncDisposable {
  readonly url: string
  readonly meanBytes: number
}

/** Bundles the programs of `bench/client` next to the installed packages, so that peers resolve. */
const programs = ['source-server', 'kubewright-consumer', 'kubewright-controller', 'client-node-consumer']

async function startSource(out: string, objects: number, updates: number): Promise<Source> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(out, 'source-server.mjs'), String(objects), String(updates)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
  const { port, meanBytes } = JSON.parse(line) as { port: number; meanBytes: number }
  return {
    url: `http://127.0.0.1:${port}`,
    meanBytes,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function consume<T>(program: string, source: Source, ...args: readonly (string | number)[]): Promise<T> {
  const { stdout } = await run(process.execPath, [program, source.url, ...args.map(String)])
  return JSON.parse(stdout) as T
}

interface Contender {
  readonly program: string
  readonly variant: string
}

const changes: Contender = { program: 'kubewright-consumer', variant: 'changes' }
const after: Contender = { program: 'kubewright-consumer', variant: 'after' }
const both: Contender = { program: 'kubewright-consumer', variant: 'objects' }
const dropped: Contender = { program: 'kubewright-consumer', variant: 'dropped' }
const clientNode: Contender = { program: 'client-node-consumer', variant: '' }

interface Best {
  readonly cpuMillis: number
  readonly syncMiB: number
  readonly peakMiB: number
  readonly perEvent: number
  readonly perSecond: number
}

/** Runs the contenders in turn. Returns the best round for each figure. */
async function measure(
  out: string,
  source: Source,
  objects: number,
  updates: number,
  contenders: readonly Contender[],
): Promise<Best[]> {
  const figures = contenders.map((): Figures[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, { program, variant }] of contenders.entries()) {
      figures[i]!.push(await consume<Figures>(join(out, `${program}.mjs`), source, objects, updates, variant))
    }
  }
  return figures.map((all) => {
    const least = (of: (one: Figures) => number): number => Math.min(...all.map(of))
    return {
      cpuMillis: least((one) => one.readMillis),
      syncMiB: least((one) => one.syncMiB),
      peakMiB: least((one) => one.peakMiB),
      perEvent: (least((one) => one.eventMillis) * 1000) / updates,
      perSecond: (updates / least((one) => one.elapsed)) * 1000,
    }
  })
}

/** Returns the best of several rounds of a controller that starts with this many objects. */
async function reconciles(out: string, source: Source, objects: number, variant: string): Promise<Reconciles> {
  const all: Reconciles[] = []
  for (let round = 0; round < rounds; round++) {
    all.push(await consume<Reconciles>(join(out, 'kubewright-controller.mjs'), source, objects, 0, variant))
  }
  return all.reduce((best, one) => (one.perReconcile < best.perReconcile ? one : best))
}

const text = (value: number, unit: string): string => {
  const digits = value < 100 ? 1 : 0
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return `${value.toLocaleString('en', options)} ${unit}`
}
const factor = (peer: number, ours: number): string => `${(peer / ours).toFixed(2)}×`

interface RowOptions {
  /** The target: the figure should not exceed it. */
  readonly aim?: number
  /** The figure of controller-runtime. */
  readonly elsewhere?: number
}

function row(title: string, unit: string, ours: number, peer: number | undefined, options: RowOptions = {}): string {
  const { aim, elsewhere } = options
  const goal = aim === undefined ? '' : ` (target ${text(aim, unit)}: ${ours <= aim ? 'met' : 'missed'})`
  const node = peer === undefined ? '–' : `${text(peer, unit)} (${factor(peer, ours)})`
  const go = elsewhere === undefined ? '–' : `${text(elsewhere, unit)} (${factor(elsewhere, ours)})`
  return `| ${title} | ${text(ours, unit)}${goal} | ${node} | ${go} |`
}

async function smallCache(out: string): Promise<string[]> {
  const source = await startSource(out, 10_000, events)
  try {
    const contenders = [changes, after, both, clientNode]
    const best = await measure(out, source, 10_000, events, contenders)
    const [ours, newer, objects, peer] = best as [Best, Best, Best, Best]
    const rates = [newer, peer].map(({ perSecond }) => `${Math.round(perSecond).toLocaleString('en')}/s`)
    const goal = (aim: number): RowOptions => ({ aim, elsewhere: 181 })
    return [
      row('sync of 10,000 objects and a get of each, CPU', 'ms', ours.cpuMillis, peer.cpuMillis),
      row('peak memory until after that sync', 'MiB', ours.syncMiB, peer.syncMiB),
      row('watch event, handler reads the key only, CPU', 'us', ours.perEvent, peer.perEvent, goal(12)),
      row(
        'watch event, handler reads the new object, like the peer, CPU',
        'us',
        newer.perEvent,
        peer.perEvent,
        goal(12),
      ),
      row('watch event, handler reads both objects, CPU', 'us', objects.perEvent, peer.perEvent, goal(20)),
      `| watch events per second, handler reads the new object | ${rates.join(' | ')} | 2,700 to 6,600/s |`,
      row('peak memory with the events, handler reads the new object', 'MiB', newer.peakMiB, peer.peakMiB, {
        aim: 100,
        elsewhere: 105,
      }),
    ]
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

async function largeCache(out: string): Promise<string[]> {
  const source = await startSource(out, 50_000, 0)
  try {
    const contenders = [changes, dropped, clientNode]
    const [ours, lean, peer] = (await measure(out, source, 50_000, 0, contenders)) as [Best, Best, Best]
    const noop = await reconciles(out, source, 50_000, 'noop')
    const gets = await reconciles(out, source, 50_000, 'gets')
    const rates = [noop, gets].map(({ perSecond }) => `${Math.round(perSecond).toLocaleString('en')}/s`)
    const rateGoal = noop.perSecond >= 200_000 ? 'met' : 'missed'
    return [
      row('sync of 50,000 objects and a get of each, CPU', 'ms', ours.cpuMillis, peer.cpuMillis, {
        aim: 4200,
        elsewhere: 12_600,
      }),
      row('peak memory with 50,000', 'MiB', ours.peakMiB, peer.peakMiB, { aim: 214, elsewhere: 428 }),
      row('the same without managed fields (`dropManagedFields`)', 'MiB', lean.peakMiB, peer.peakMiB, {
        elsewhere: 428,
      }),
      row('no-op reconcile, 50,000 keys, 1 worker, complete controller, CPU', 'us', noop.perReconcile, undefined, {
        elsewhere: 19,
      }),
      `| the same, per second | ${rates[0]} (target 200,000/s: ${rateGoal}) | – | 52,000 to 67,000/s |`,
      row('the same with a get from the cache, CPU', 'us', gets.perReconcile, undefined),
      `| the same with a get from the cache, per second | ${rates[1]} | – | 17,000 to 28,000/s |`,
      `| reconciles of a storm of 200,000 adds of 1,000 keys | ${noop.storm} (target 1,100: ${noop.storm <= 1100 ? 'met' : 'missed'}) | – | about 1,005 |`,
    ]
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

/** The cost of a cache. */
export const suite: Suite = {
  title: 'Client and cache',
  about: `A process that caches custom resources of about 1.5 KiB with managedFields. Another process serves them from memory over HTTP. CPU of a sync is that of the complete process since its start. Memory is the peak resident memory of the complete process. The server sends events as fast as the process reads them. Rates depend on other load on the machine, CPU much less. Best of ${rounds} rounds, in which the contenders take turns. A factor is a peer’s figure divided by ours; above 1, ours is better. The figures of controller-runtime (typed, client-go 1.35) were measured elsewhere, on a loaded machine of this kind: they show the order of magnitude.`,
  report: async () => {
    const out = mkdtempSync(join(root, 'node_modules', '.bench-client-'))
    try {
      await bundlePrograms(folder, programs, out)
      return [
        '| work | kubewright | @kubernetes/client-node | controller-runtime, measured elsewhere |',
        '|---|---|---|---|',
        ...(await smallCache(out)),
        ...(await largeCache(out)),
      ]
    } finally {
      rmSync(out, { recursive: true, force: true })
    }
  },
}
