// Measures complete processes: the embedded server, and one operator at a time, bundled like an
// application; and that of controller-runtime, if it is on PATH.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { crdOf, defineResource } from '@kubewright/api'
import { type ApiClient, connect } from '@kubewright/client'
import { Namespace } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { bundlePrograms } from './bundle-programs.ts'
import type { Suite } from './harness.ts'
import { programVersion } from './program-version.ts'
import { group, madeAt, plural, version } from './runtime/operator-report.ts'

const folder = join(import.meta.dirname, 'runtime')
const root = join(import.meta.dirname, '..')
const rounds = 3
const sites = 1000
const makers = 16
const leanFlags = ['--optimize-for-size', '--max-semi-space-size=2']

const Site = defineResource({
  group,
  version,
  kind: 'Site',
  plural,
  spec: s.object({ image: s.string() }),
  status: s.object({ done: s.int() }),
})

const programs = ['kubewright-operator', 'client-node-operator'] as const
const goProgram = 'controller-runtime-operator'
/** Shown if the run has no program of controller-runtime. */
const noGo = `The figures of controller-runtime were measured elsewhere, on a loaded machine of this kind, against kube-apiserver, because \`${goProgram}\` was not on PATH.`

interface Figures {
  readonly firstMillis: number
  readonly idleMiB: number
  readonly perSiteMillis: number
  readonly peakMiB: number
  readonly p50: number
  readonly p99: number
  readonly perSecond: number
}

/** Returns the next line of a process. Rejects if the process exits first. */
function nextLine(child: ChildProcess, lines: Interface): Promise<string> {
  const ended = once(child, 'exit').then(([code]) =>
    Promise.reject(new Error(`the program ended with ${String(code)}`)),
  )
  return Promise.race([once(lines, 'line').then(([line]) => line as string), ended])
}

async function stopped(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

async function startServer(kubeconfig: string): Promise<AsyncDisposable> {
  const command = ['--conditions=kubewright-source', '--import', 'tsx', join(root, 'packages/cli/src/main.ts')]
  const options = ['up', '--port', '0', '--memory', '--controllers', 'none', '--kubeconfig', kubeconfig]
  const child = spawn(process.execPath, [...command, ...options], { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
  const line = await nextLine(child, createInterface({ input: child.stdout }))
  if (!line.startsWith('ready ')) throw new Error(line)
  return { [Symbol.asyncDispose]: () => stopped(child) }
}

const draft = (namespace: string, name: string) =>
  Site({ metadata: { name, namespace, annotations: { [madeAt]: String(Date.now()) } }, spec: { image: 'nginx' } })

async function measure(
  client: ApiClient,
  command: readonly [program: string, ...args: string[]],
  kubeconfig: string,
  workers: number,
  namespace: string,
): Promise<Figures> {
  await client.create(Namespace({ metadata: { name: namespace } }))
  await client.create(draft(namespace, 'first'))
  const [program, ...args] = command
  const child = spawn(program, [...args, kubeconfig, namespace, String(workers), String(sites)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const lines = createInterface({ input: child.stdout })
    const start = JSON.parse(await nextLine(child, lines)) as Pick<Figures, 'firstMillis' | 'idleMiB'>
    const all = nextLine(child, lines)
    const began = performance.now()
    const names = Array.from({ length: sites }, (_, index) => `site-${index}`)
    const make = async (): Promise<void> => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) await client.create(draft(namespace, name))
    }
    await Promise.all(Array.from({ length: makers }, make))
    const end = JSON.parse(await all) as Pick<Figures, 'perSiteMillis' | 'peakMiB' | 'p50' | 'p99'>
    return { ...start, ...end, perSecond: (sites / (performance.now() - began)) * 1000 }
  } finally {
    await stopped(child)
  }
}

/** Measures Kubewright with flags that make V8 collect garbage early instead of growing the heap. */
async function measureLean(client: ApiClient, out: string, kubeconfig: string): Promise<Figures> {
  const found: Figures[] = []
  for (let round = 0; round < rounds; round++) {
    const command = [process.execPath, ...leanFlags, join(out, `${programs[0]}.mjs`)] as const
    found.push(await measure(client, command, kubeconfig, 10, `bench-lean-${round}`))
  }
  return best(found)
}

/** Returns the best round for each figure. */
function best(figures: readonly Figures[]): Figures {
  const least = (of: (one: Figures) => number): number => Math.min(...figures.map(of))
  return {
    firstMillis: least((one) => one.firstMillis),
    idleMiB: least((one) => one.idleMiB),
    perSiteMillis: least((one) => one.perSiteMillis),
    peakMiB: least((one) => one.peakMiB),
    p50: least((one) => one.p50),
    p99: least((one) => one.p99),
    perSecond: Math.max(...figures.map((one) => one.perSecond)),
  }
}

const text = (value: number, unit: string): string =>
  `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)} ${unit}`

type Measured = readonly [ours: Figures, clientNode: Figures, go?: Figures | undefined]
type Amount = Exclude<keyof Figures, 'perSecond'>

/** Returns a row. `elsewhere` is shown if controller-runtime has no figure of this run. */
function row(title: string, unit: string, measured: Measured, of: Amount, goal?: number, elsewhere = '–'): string {
  const [ours, clientNode, go] = measured
  const aim = goal === undefined ? '' : ` (target ${goal}: ${ours[of] <= goal ? 'met' : 'missed'})`
  const peer = (one: Figures): string => `${text(one[of], unit)} (${(one[of] / ours[of]).toFixed(2)}×)`
  return `| ${title} | ${text(ours[of], unit)}${aim} | ${peer(clientNode)} | ${go ? peer(go) : elsewhere} |`
}

function rateRow(title: string, [ours, clientNode, go]: Measured): string {
  const rate = ({ perSecond }: Figures): string => `${perSecond.toFixed(0)}/s`
  const peer = (one: Figures): string => `${rate(one)} (${(ours.perSecond / one.perSecond).toFixed(2)}×)`
  return `| ${title} | ${rate(ours)} | ${peer(clientNode)} | ${go ? peer(go) : '–'} |`
}

/** The cost of running an operator. */
export const suite: Suite = {
  title: 'Operators',
  about: `A complete operator in its own process, against the embedded server in another: for each custom resource, it writes one ConfigMap and one status. ${makers} writers create ${sites} custom resources as fast as the server accepts them, so latencies and memory are those under full load. Most of the peak memory is garbage that V8 has not collected yet, as the row with flags shows. The operator of Kubewright includes everything that \`run\` provides (cache, metrics, health, preflight); that on controller-runtime includes a manager with metrics and health, and caches Sites and ConfigMaps; that on @kubernetes/client-node is an informer with a hand-written queue. Best of three rounds, in which the contenders take turns. A factor is the peer’s figure divided by ours, for rates ours divided by the peer’s; above 1, ours is better.`,
  report: async () => {
    const out = mkdtempSync(join(root, 'node_modules', '.bench-runtime-'))
    const kubeconfig = join(out, 'kubeconfig')
    const server = await startServer(kubeconfig)
    const client = await connect({ kubeconfig })
    try {
      await bundlePrograms(folder, programs, out)
      await client.create(crdOf(Site))
      const version = programVersion(goProgram)
      const commands: [string, ...string[]][] = programs.map((name) => [process.execPath, join(out, `${name}.mjs`)])
      if (version !== undefined) commands.push([goProgram])
      const lines = [
        ...(version === undefined ? [noGo, ''] : []),
        `| work | kubewright | @kubernetes/client-node | controller-runtime${version === undefined ? ', measured elsewhere' : ` ${version}`} |`,
        '|---|---|---|---|',
      ]
      for (const workers of [1, 10]) {
        const found = commands.map((): Figures[] => [])
        for (let round = 0; round < rounds; round++) {
          for (const [index, command] of commands.entries()) {
            found[index]!.push(
              await measure(client, command, kubeconfig, workers, `bench-${workers}-${round}-${index}`),
            )
          }
        }
        const measured = found.map(best) as [Figures, Figures, Figures?]
        if (workers === 1) {
          lines.push(row('process start to first reconcile, CPU', 'ms', measured, 'firstMillis', 250, '31 to 45 ms'))
          lines.push(row('idle after that, memory', 'MiB', measured, 'idleMiB', 50, '31 MiB'))
        }
        const how = `${workers} worker${workers === 1 ? '' : 's'}`
        lines.push(row(`one custom resource, ${how}, CPU`, 'ms', measured, 'perSiteMillis', 3, '2.7 to 3.3 ms'))
        lines.push(row(`peak memory, ${how}`, 'MiB', measured, 'peakMiB', 80, '35 MiB'))
        if (workers === 10) {
          const lean: Measured = [await measureLean(client, out, kubeconfig), measured[1], measured[2]]
          lines.push(row(`the same with node ${leanFlags.join(' ')}`, 'MiB', lean, 'peakMiB', 80, '35 MiB'))
          lines.push(row('one custom resource with these flags, CPU', 'ms', lean, 'perSiteMillis', 3))
        }
        lines.push(row(`latency, ${how}, p50`, 'ms', measured, 'p50'))
        lines.push(row(`latency, ${how}, p99`, 'ms', measured, 'p99'))
        lines.push(rateRow(`custom resources per second, ${how}`, measured))
      }
      return lines
    } finally {
      await client[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      rmSync(out, { recursive: true, force: true })
    }
  },
}
