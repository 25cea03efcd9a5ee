// Whole processes: a source of pre-made answers, and one consumer at a time, bundled as an application would be.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { Suite } from './harness.ts'

const folder = join(import.meta.dirname, 'client')
const root = join(import.meta.dirname, '..')
const rounds = 3
const events = 100_000
const run = promisify(execFile)

interface Figures {
  readonly loadedMillis: number
  readonly syncMillis: number
  readonly readMillis: number
  readonly eventMillis: number
  readonly elapsed: number
  readonly peakMiB: number
}

interface Source extends AsyncDisposable {
  readonly url: string
  readonly meanBytes: number
}

/** Bundles the programs of `bench/client`, beside the installed packages so that peers resolve. */
async function bundled(out: string, ...names: string[]): Promise<void> {
  await build({
    entryPoints: names.map((name) => join(folder, `${name}.ts`)),
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['kubewright-source'],
    external: ['@kubernetes/client-node'],
    logLevel: 'warning',
  })
}

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

async function consume(program: string, source: Source, objects: number, updates: number): Promise<Figures> {
  const { stdout } = await run(process.execPath, [program, source.url, String(objects), String(updates)])
  return JSON.parse(stdout) as Figures
}

const contenders = [
  { name: 'kubewright', program: 'kubewright-consumer' },
  { name: '@kubernetes/client-node', program: 'client-node-consumer' },
] as const

/** What controller-runtime took for the same work, on another machine of this kind. */
const elsewhere = {
  10000: { cpu: undefined, memory: 105, perEvent: 181 },
  50000: { cpu: 12_600, memory: 428, perEvent: undefined },
} as const

interface Best {
  readonly name: string
  readonly syncMillis: number
  readonly perEvent: number
  readonly perSecond: number
  readonly peakMiB: number
}

/** Contenders take turns; of each figure the best round counts. */
async function measure(out: string, objects: number, updates: number): Promise<{ best: Best[]; meanBytes: number }> {
  const source = await startSource(out, objects, updates)
  const best = new Map<string, Best>()
  try {
    for (let round = 0; round < rounds; round++) {
      for (const { name, program } of contenders) {
        const figures = await consume(join(out, `${program}.mjs`), source, objects, updates)
        const known = best.get(name)
        best.set(name, {
          name,
          syncMillis: Math.min(figures.readMillis, known?.syncMillis ?? Number.POSITIVE_INFINITY),
          perEvent: Math.min((figures.eventMillis * 1000) / updates, known?.perEvent ?? Number.POSITIVE_INFINITY),
          perSecond: Math.max((updates / figures.elapsed) * 1000, known?.perSecond ?? 0),
          peakMiB: Math.min(figures.peakMiB, known?.peakMiB ?? Number.POSITIVE_INFINITY),
        })
      }
    }
  } finally {
    await source[Symbol.asyncDispose]()
  }
  return { best: [...best.values()], meanBytes: source.meanBytes }
}

const aim = (value: number, limit: number): string => (value <= limit ? `aim ${limit}: met` : `aim ${limit}: missed`)
const factor = (peer: number, ours: number): string => `${(peer / ours).toFixed(2)}×`

function row(
  title: string,
  unit: string,
  ours: number,
  peer: number,
  options: { aim?: number | undefined; elsewhere?: number | undefined } = {},
): string {
  const { elsewhere: there } = options
  const text = (value: number): string => `${value < 100 ? value.toFixed(1) : value.toFixed(0)} ${unit}`
  const goal = options.aim === undefined ? '' : ` (${aim(ours, options.aim)})`
  const go = there === undefined ? '–' : `${text(there)} (${factor(there, ours)})`
  return `| ${title} | ${text(ours)}${goal} | ${text(peer)} (${factor(peer, ours)}) | ${go} |`
}

/** What it costs to keep a cache. */
export const suite: Suite = {
  title: 'Client and cache',
  about:
    'A process that caches custom resources of about 1.5 KiB with managedFields, served by another process from memory over HTTP. Initial sync counts everything from the start of the process to the last of one get per key; peak memory is that of the whole process. Best of three rounds in which the contenders take turns; a factor is a peer’s figure divided by ours, so above 1 we are leaner. The figures of controller-runtime (typed, client-go 1.35) were measured elsewhere, on a loaded machine of this kind: they give the order of magnitude.',
  report: async () => {
    const out = mkdtempSync(join(root, 'node_modules', '.bench-client-'))
    try {
      await bundled(out, 'source-server', ...contenders.map(({ program }) => program))
      const lines = [
        '| work | kubewright | @kubernetes/client-node | controller-runtime, measured elsewhere |',
        '|---|---|---|---|',
      ]
      for (const objects of [10_000, 50_000] as const) {
        const updates = objects === 10_000 ? events : 0
        const { best, meanBytes } = await measure(out, objects, updates)
        const [ours, peer] = best as [Best, Best]
        const there = elsewhere[objects]
        const count = objects.toLocaleString('en')
        const what = `${count} objects of ${meanBytes.toFixed(0)} bytes`
        const cpuAim = there.cpu === undefined ? undefined : there.cpu / 3
        lines.push(
          row(`sync of ${what}, CPU`, 'ms', ours.syncMillis, peer.syncMillis, { aim: cpuAim, elsewhere: there.cpu }),
        )
        const memory = { aim: objects === 50_000 ? there.memory / 2 : there.memory, elsewhere: there.memory }
        const title = updates === 0 ? `${count} objects, peak memory` : `the same and ${events} events, peak memory`
        lines.push(row(title, 'MiB', ours.peakMiB, peer.peakMiB, memory))
        if (updates === 0) continue
        lines.push(
          row(`watch event with ${count} objects cached, CPU`, 'us', ours.perEvent, peer.perEvent, {
            aim: 20,
            elsewhere: there.perEvent,
          }),
        )
        const rates = `${ours.perSecond.toFixed(0)}/s | ${peer.perSecond.toFixed(0)}/s (${factor(ours.perSecond, peer.perSecond)} slower)`
        lines.push(`| watch events per second with ${count} objects cached | ${rates} | 2,700 to 6,600/s |`)
      }
      return lines
    } finally {
      rmSync(out, { recursive: true, force: true })
    }
  },
}
