// Measures complete processes with a control plane, bundled like a test runner or an application would load them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bundlePrograms } from './bundle-programs.ts'
import type { Taken } from './controlplane/process-figures.ts'
import type { Suite } from './harness.ts'

const folder = join(import.meta.dirname, 'controlplane')
const root = join(import.meta.dirname, '..')
const programs = ['environments-runner', 'deployments-runner'] as const
const peerProgram = 'webernetes-runner'
const peerPackage = '@ngrok/webernetes'
const rounds = 3
const environments = 50
const many = { namespaces: 10, deployments: 100, replicas: 3 }
const nodes = 3

async function figuresOf<T>(
  out: string,
  program: (typeof programs)[number] | typeof peerProgram,
  ...args: number[]
): Promise<T> {
  const child = spawn(process.execPath, [join(out, `${program}.mjs`), ...args.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}`)
  return JSON.parse(Buffer.concat(chunks).toString()) as T
}

const least = (all: readonly Taken[]): Taken => ({
  wallMillis: Math.min(...all.map(({ wallMillis }) => wallMillis)),
  cpuMillis: Math.min(...all.map(({ cpuMillis }) => cpuMillis)),
  peakMiB: Math.min(...all.map(({ peakMiB }) => peakMiB)),
})

const time = (millis: number): string => (millis < 2000 ? `${millis.toFixed(0)} ms` : `${(millis / 1000).toFixed(1)} s`)
const memory = (mebibytes: number): string => `${mebibytes.toFixed(0)} MiB`
const aim = (value: number, goal: number): string => ` (target ${goal}: ${value <= goal ? 'met' : 'missed'})`

interface RollOut {
  readonly started: Taken
  readonly rolledOut: Taken
}

/** Returns the version of the peer, or undefined if it is not installed. */
function peerVersion(): string | undefined {
  const file = join(root, 'node_modules', peerPackage, 'package.json')
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : undefined
}

/** Starts a process with one Deployment for Kubewright and, if it is installed, for the peer, in turn. */
async function oneDeployment(out: string): Promise<string[]> {
  const version = peerVersion()
  if (version !== undefined) await bundlePrograms(folder, [peerProgram], out)
  const ours: RollOut[] = []
  const theirs: RollOut[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(await figuresOf(out, 'deployments-runner', 1, 1, many.replicas, nodes))
    if (version !== undefined) theirs.push(await figuresOf(out, peerProgram, many.replicas, nodes))
  }
  const heads = ['work', 'CPU', 'elapsed', 'peak memory']
  if (version !== undefined) heads.push(`${peerPackage} ${version}`, 'its elapsed', 'its peak memory')
  const row = (title: string, of: (one: RollOut) => Taken): string => {
    const own = least(ours.map(of))
    const cells = [title, time(own.cpuMillis), time(own.wallMillis), memory(own.peakMiB)]
    if (version !== undefined) {
      const other = least(theirs.map(of))
      const factor = (figure: keyof Taken): string => ` (${(other[figure] / own[figure]).toFixed(1)}×)`
      cells.push(time(other.cpuMillis) + factor('cpuMillis'), time(other.wallMillis) + factor('wallMillis'))
      cells.push(memory(other.peakMiB) + factor('peakMiB'))
    }
    return `| ${cells.join(' | ')} |`
  }
  return [
    ...(version === undefined ? [`No ratios, because ${peerPackage} was not installed.`, ''] : []),
    `| ${heads.join(' | ')} |`,
    `|${'---|'.repeat(heads.length)}`,
    row(`start of the process to a control plane with ${nodes} nodes`, ({ started }) => started),
    row(`a Deployment of ${many.replicas} replicas until available`, ({ rolledOut }) => rolledOut),
  ]
}

/** The cost of a control plane in the process. */
export const suite: Suite = {
  title: 'Control plane in one process',
  about: `Test environments are those of examples/home: API server, all controllers, a node, and an operator with webhooks and a conversion. The time ends when the operator runs. The idle environment has no operator and runs in virtual time. ${environments} environments are started at once in one process, and each rolls out a Home. The last rows are one control plane with ten nodes and ${many.namespaces} namespaces of ${many.deployments} Deployments with ${many.replicas} replicas each, created by 16 writers: first until all are available, then until the namespaces and everything in them are deleted. Wall-clock time; the best of ${rounds} processes, for the larger ones of one process. The second table compares with ${peerPackage}, a port of parts of Kubernetes for browsers: it has no HTTP server, no custom resources and no admission. Each runs in processes of its own, in turn; the CPU and time of the start include loading the code. A factor is the peer’s figure divided by ours.`,
  report: async () => {
    const out = mkdtempSync(join(root, 'node_modules', '.bench-controlplane-'))
    try {
      await bundlePrograms(folder, programs, out)
      const starts: { first: Taken; later: Taken; idle: Taken }[] = []
      for (let i = 0; i < rounds; i++) starts.push(await figuresOf(out, 'environments-runner', 1))
      const first = least(starts.map((one) => one.first))
      const later = least(starts.map((one) => one.later))
      const idle = least(starts.map((one) => one.idle))
      const { all } = await figuresOf<{ all: Taken }>(out, 'environments-runner', environments)
      const scale = await figuresOf<{ rolledOut: Taken; removed: Taken; pods: number; remains: number }>(
        out,
        'deployments-runner',
        many.namespaces,
        many.deployments,
        many.replicas,
      )
      const row = (title: string, { wallMillis, cpuMillis, peakMiB }: Taken, note = '', end = ''): string =>
        `| ${title} | ${time(wallMillis)}${note} | ${time(cpuMillis)} | ${memory(peakMiB)}${end} |`
      const expected = many.namespaces * many.deployments * many.replicas
      return [
        '| work | elapsed | CPU | peak memory |',
        '|---|---|---|---|',
        row('test environment, first of a process', first, aim(first.wallMillis, 150)),
        row('test environment, later ones', later, aim(later.wallMillis, 40)),
        row("advance('2h') of an idle environment", idle, aim(idle.wallMillis, 50)),
        row(`${environments} test environments at once, each in use`, all, '', aim(all.peakMiB, 400)),
        row(`${scale.pods} of ${expected} pods available`, scale.rolledOut),
        row(`namespaces deleted, ${scale.remains} objects left`, scale.removed),
        '| kube-apiserver and etcd start, without controllers and nodes (measured elsewhere, on a loaded machine) | 4 to 10 s | 3,900 ms | 309 MiB |',
        '',
        ...(await oneDeployment(out)),
      ]
    } finally {
      rmSync(out, { recursive: true, force: true })
    }
  },
}
