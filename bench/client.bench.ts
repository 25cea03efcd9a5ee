// Measures complete processes: a server with prepared responses, and one consumer at a time, bundled like an
// application; and those of controller-runtime, if they are on PATH.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { bundlePrograms } from './bundle-programs.ts'
import type { Suite } from './harness.ts'
import { programVersion } from './program-version.ts'

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

interface Contender {
  readonly program: string
  readonly variant: string
  /** Whether the program is on PATH instead of in the folder of this suite. */
  readonly isOnPath?: boolean
}

/** Runs a program. Returns the figures that it prints. */
async function consume<T>(
  out: string,
  source: Source,
  { program, variant, isOnPath }: Contender,
  objects: number,
  updates: number,
): Promise<T> {
  const args = [source.url, String(objects), String(updates), variant]
  const { stdout } = isOnPath
    ? await run(program, args)
    : await run(process.execPath, [join(out, `${program}.mjs`), ...args])
  return JSON.parse(stdout) as T
}

const changes: Contender = { program: 'kubewright-consumer', variant: 'changes' }
const after: Contender = { program: 'kubewright-consumer', variant: 'after' }
const both: Contender = { program: 'kubewright-consumer', variant: 'objects' }
const dropped: Contender = { program: 'kubewright-consumer', variant: 'dropped' }
const clientNode: Contender = { program: 'client-node-consumer', variant: '' }
const controller = (variant: string): Contender => ({ program: 'kubewright-controller', variant })
const goConsumer = 'controller-runtime-consumer'
const goController = 'controller-runtime-controller'
const go = (program: string, variant: string): Contender => ({ program, variant, isOnPath: true })

/** Returns the version of controller-runtime, or undefined if one of its programs is missing. */
function goVersion(): string | undefined {
  return programVersion(goController) && programVersion(goConsumer)
}

/** Shown if the run has no programs of controller-runtime. */
const noGo = `The figures of controller-runtime (typed, client-go 1.35) were measured elsewhere, on a loaded machine of this kind, because its programs were not on PATH: they show the order of magnitude.`

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
    for (const [i, contender] of contenders.entries()) {
      figures[i]!.push(await consume<Figures>(out, source, contender, objects, updates))
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

/** Runs controllers that start with this many objects, in turn. Returns the best round of each. */
async function reconciles(
  out: string,
  source: Source,
  objects: number,
  contenders: readonly Contender[],
): Promise<Reconciles[]> {
  const best: Reconciles[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const one = await consume<Reconciles>(out, source, contender, objects, 0)
      if (best[i] === undefined || one.perReconcile < best[i].perReconcile) best[i] = one
    }
  }
  return best
}

const text = (value: number, unit: string): string => {
  const digits = value < 100 ? 1 : 0
  const options = { minimumFractionDigits: digits, maximumFractionDigits: digits }
  return `${value.toLocaleString('en', options)} ${unit}`
}
const rate = ({ perSecond }: Rate): string => `${Math.round(perSecond).toLocaleString('en')}/s`
const factor = (peer: number, ours: number): string => `${(peer / ours).toFixed(2)}×`

interface RowOptions {
  /** The target: the figure should not exceed it. */
  readonly aim?: number
  /** The figure of controller-runtime in this run. */
  readonly go?: number | undefined
  /** Its figure elsewhere, shown if there is none of this run. */
  readonly elsewhere?: number
}

function row(title: string, unit: string, ours: number, peer: number | undefined, options: RowOptions = {}): string {
  const { aim, go = options.elsewhere } = options
  const goal = aim === undefined ? '' : ` (target ${text(aim, unit)}: ${ours <= aim ? 'met' : 'missed'})`
  const node = peer === undefined ? '–' : `${text(peer, unit)} (${factor(peer, ours)})`
  const runtime = go === undefined ? '–' : `${text(go, unit)} (${factor(go, ours)})`
  return `| ${title} | ${text(ours, unit)}${goal} | ${node} | ${runtime} |`
}

interface Rate {
  readonly perSecond: number
}

/** Returns the cell of a peer in a row of rates. */
const rateCell = (peer: Rate | undefined, ours: Rate, elsewhere: string): string =>
  peer === undefined ? elsewhere : `${rate(peer)} (${factor(ours.perSecond, peer.perSecond)})`

async function smallCache(out: string, hasGo: boolean): Promise<string[]> {
  const source = await startSource(out, 10_000, events)
  try {
    const contenders = [changes, after, both, clientNode, ...(hasGo ? [go(goConsumer, 'after')] : [])]
    const best = await measure(out, source, 10_000, events, contenders)
    const [ours, newer, objects, peer, runtime] = best as [Best, Best, Best, Best, Best?]
    const goal = (aim: number): RowOptions => ({ aim, go: runtime?.perEvent, elsewhere: 181 })
    return [
      row('sync of 10,000 objects and a get of each, CPU', 'ms', ours.cpuMillis, peer.cpuMillis, {
        go: runtime?.cpuMillis,
      }),
      row('peak memory until after that sync', 'MiB', ours.syncMiB, peer.syncMiB, { go: runtime?.syncMiB }),
      row('watch event, handler reads the key only, CPU', 'us', ours.perEvent, peer.perEvent, goal(12)),
      row(
        'watch event, handler reads the spec of the new object, like the peers, CPU',
        'us',
        newer.perEvent,
        peer.perEvent,
        goal(12),
      ),
      row('watch event, handler reads the specs of both objects, CPU', 'us', objects.perEvent, peer.perEvent, goal(20)),
      `| watch events per second, handler reads the spec of the new object | ${rate(newer)} | ${rateCell(peer, newer, '–')} | ${rateCell(runtime, newer, '2,700 to 6,600/s')} |`,
      row('peak memory with the events, handler reads the spec of the new object', 'MiB', newer.peakMiB, peer.peakMiB, {
        aim: 100,
        go: runtime?.peakMiB,
        elsewhere: 105,
      }),
    ]
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

async function largeCache(out: string, hasGo: boolean): Promise<string[]> {
  const source = await startSource(out, 50_000, 0)
  try {
    const contenders = [changes, dropped, clientNode]
    if (hasGo) contenders.push(go(goConsumer, 'after'), go(goConsumer, 'dropped'))
    const best = await measure(out, source, 50_000, 0, contenders)
    const [ours, lean, peer, runtime, leanRuntime] = best as [Best, Best, Best, Best?, Best?]
    const controllers = [controller('noop'), controller('gets')]
    if (hasGo) controllers.push(go(goController, 'noop'), go(goController, 'gets'))
    const counted = await reconciles(out, source, 50_000, controllers)
    const [noop, gets, goNoop, goGets] = counted as [Reconciles, Reconciles, Reconciles?, Reconciles?]
    const rateGoal = noop.perSecond >= 200_000 ? 'met' : 'missed'
    return [
      row('sync of 50,000 objects and a get of each, CPU', 'ms', ours.cpuMillis, peer.cpuMillis, {
        aim: 4200,
        go: runtime?.cpuMillis,
        elsewhere: 12_600,
      }),
      row('peak memory with 50,000', 'MiB', ours.peakMiB, peer.peakMiB, {
        aim: 214,
        go: runtime?.peakMiB,
        elsewhere: 428,
      }),
      row('the same without managed fields (`dropManagedFields`)', 'MiB', lean.peakMiB, peer.peakMiB, {
        go: leanRuntime?.peakMiB,
        elsewhere: 428,
      }),
      row('no-op reconcile, 50,000 keys, 1 worker, complete controller, CPU', 'us', noop.perReconcile, undefined, {
        go: goNoop?.perReconcile,
        elsewhere: 19,
      }),
      `| the same, per second | ${rate(noop)} (target 200,000/s: ${rateGoal}) | – | ${rateCell(goNoop, noop, '52,000 to 67,000/s')} |`,
      row('the same with a get from the cache, CPU', 'us', gets.perReconcile, undefined, {
        go: goGets?.perReconcile,
      }),
      `| the same with a get from the cache, per second | ${rate(gets)} | – | ${rateCell(goGets, gets, '17,000 to 28,000/s')} |`,
      `| reconciles of a storm of 200,000 adds of 1,000 keys | ${noop.storm} (target 1,100: ${noop.storm <= 1100 ? 'met' : 'missed'}) | – | ${goNoop?.storm ?? 'about 1,005'} |`,
    ]
  } finally {
    await source[Symbol.asyncDispose]()
  }
}

/** The cost of a cache. */
export const suite: Suite = {
  title: 'Client and cache',
  about: `A process that caches custom resources of about 1.5 KiB with managedFields. Another process serves them from memory over HTTP. CPU of a sync is that of the complete process since its start. Memory is the peak resident memory of the complete process. The server sends events as fast as the process reads them. Rates depend on other load on the machine, CPU much less. Best of ${rounds} rounds, in which the contenders take turns. A factor is a peer’s figure divided by ours, for rates ours divided by the peer’s; above 1, ours is better. controller-runtime caches typed objects; its get returns a copy.`,
  report: async () => {
    const out = mkdtempSync(join(root, 'node_modules', '.bench-client-'))
    try {
      await bundlePrograms(folder, programs, out)
      const version = goVersion()
      const hasGo = version !== undefined
      return [
        ...(hasGo ? [] : [noGo, '']),
        `| work | kubewright | @kubernetes/client-node | controller-runtime${hasGo ? ` ${version}` : ', measured elsewhere'} |`,
        '|---|---|---|---|',
        ...(await smallCache(out, hasGo)),
        ...(await largeCache(out, hasGo)),
      ]
    } finally {
      rmSync(out, { recursive: true, force: true })
    }
  },
}
