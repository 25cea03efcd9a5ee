// Measures how the cost of a control plane grows with the number of its objects: a process per kind of work and size.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePrograms } from './bundle-programs.ts'
import type { Taken } from './controlplane/process-figures.ts'
import type { Suite } from './harness.ts'

const folder = join(import.meta.dirname, 'size')
const root = join(import.meta.dirname, '..')
const programs = ['pods-runner', 'crds-runner', 'objects-runner', 'namespace-runner'] as const

/** The sizes that a plain run measures. `SIZE` replaces them: `SIZE=pods:5000:150000,crds:10000,objects:1000000,namespace:10000`. */
const defaultSizes =
  'pods:50:1500,pods:500:15000,crds:100,crds:1000,objects:10000,objects:100000,namespace:1000,namespace:10000'

interface PodFigures {
  readonly nodes: number
  readonly pods: number
  readonly objects: number
  readonly events: number
  readonly registered: Taken
  readonly running: Taken
  readonly idleMiB: number
  readonly fullMiB: number
  readonly list: Taken
  readonly watch: Taken
  readonly idleShare: number
  readonly peakMiB: number
}

interface CrdFigures {
  readonly definitions: number
  readonly created: Taken
  readonly served: Taken
  readonly idleMiB: number
  readonly fullMiB: number
  readonly aggregated: Taken
  readonly openapi2: Taken
  readonly openapi3: Taken
  readonly another: Taken
  readonly settled: Taken
  readonly peakMiB: number
}

interface FillFigures {
  /** The number of objects that the API server created. */
  readonly created: number
  readonly creates: Taken
}

interface OpenFigures {
  readonly opened: Taken
  readonly ready: Taken
  readonly fullMiB: number
  readonly page: Taken
  readonly namespace: Taken
  readonly list: Taken
  readonly peakMiB: number
}

interface NamespaceFigures {
  readonly objects: number
  readonly created: Taken
  readonly removed: Taken
  readonly left: number
}

// SIZE_NODE_FLAGS adds flags of Node, such as --cpu-prof.
const nodeFlags = ['--expose-gc', '--max-old-space-size=8192', ...(process.env.SIZE_NODE_FLAGS?.split(' ') ?? [])]

async function figuresOf<T>(out: string, program: (typeof programs)[number], ...args: string[]): Promise<T> {
  const child = spawn(process.execPath, [...nodeFlags, join(out, `${program}.mjs`), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}`)
  return JSON.parse(Buffer.concat(chunks).toString()) as T
}

const number = (value: number): string => value.toLocaleString('en')
const time = (millis: number): string => (millis < 2000 ? `${millis.toFixed(0)} ms` : `${(millis / 1000).toFixed(1)} s`)
const mib = (value: number): string => `${number(Math.round(value))} MiB`

function podsLine(one: PodFigures): string {
  const cells = [
    `${number(one.nodes)} nodes, ${number(one.pods)} pods`,
    `${(one.registered.cpuMillis / one.nodes).toFixed(2)} ms`,
    `${(one.running.cpuMillis / one.pods).toFixed(2)} ms`,
    time(one.running.wallMillis),
    `${mib(one.fullMiB)} (${(((one.fullMiB - one.idleMiB) * 1024) / one.pods).toFixed(1)} KiB per pod)`,
    mib(one.peakMiB),
    time(one.list.cpuMillis),
    time(one.watch.cpuMillis),
    `${(one.idleShare * 100).toFixed(1)} %`,
  ]
  return `| ${cells.join(' | ')} |`
}

function crdsLine(one: CrdFigures): string {
  const cells = [
    number(one.definitions),
    `${((one.created.cpuMillis + one.served.cpuMillis) / one.definitions).toFixed(2)} ms`,
    `${mib(one.fullMiB)} (${(((one.fullMiB - one.idleMiB) * 1024) / one.definitions).toFixed(1)} KiB each)`,
    mib(one.peakMiB),
    time(one.aggregated.cpuMillis),
    time(one.openapi2.cpuMillis),
    time(one.openapi3.cpuMillis),
    `${time(one.another.cpuMillis)}, then ${time(one.settled.cpuMillis)}`,
  ]
  return `| ${cells.join(' | ')} |`
}

function objectsLine(count: number, filled: FillFigures, opened: OpenFigures): string {
  const cells = [
    number(count),
    `${((filled.creates.cpuMillis * 1000) / filled.created).toFixed(0)} µs`,
    `${time(opened.ready.cpuMillis)} (${time(opened.ready.wallMillis)} elapsed)`,
    time(opened.opened.cpuMillis),
    mib(opened.fullMiB),
    mib(opened.peakMiB),
    time(opened.page.cpuMillis),
    time(opened.namespace.cpuMillis),
    time(opened.list.cpuMillis),
  ]
  return `| ${cells.join(' | ')} |`
}

function namespaceLine({ objects, created, removed, left }: NamespaceFigures): string {
  const create = `${((created.cpuMillis * 1000) / objects).toFixed(0)} µs`
  const each = `${((removed.cpuMillis * 1000) / objects).toFixed(0)} µs`
  return `| ${number(objects)} | ${create} | ${time(removed.cpuMillis)} (${time(removed.wallMillis)} elapsed) | ${each} | ${left} |`
}

/** The figures that the targets name. A run with smaller sizes has only some of them. */
function targetLines({ nodes, pods, running, peakMiB, list, watch, idleShare }: PodFigures): string[] {
  const perSecond = Math.round(pods / (running.wallMillis / 1000))
  const lines = [`| pods created until Running, per second | ${perSecond}/s, with ${number(pods)} pods |`]
  if (nodes === 5000) {
    lines.push(`| heartbeats of 5,000 nodes, share of one core | ${(idleShare * 100).toFixed(1)} %, all idle work |`)
  }
  if (nodes !== 5000 || pods !== 150_000) return lines
  const begin = (list.wallMillis + watch.wallMillis) / 1000
  lines.push(`| 5,000 nodes and 150,000 pods, memory | ${mib(peakMiB)} |`)
  lines.push(`| list and watch start with 150,000 pods | ${begin.toFixed(1)} s |`)
  return lines
}

async function objectFigures(out: string, count: string): Promise<{ line: string; opened: OpenFigures }> {
  const data = mkdtempSync(join(process.env.SIZE_FOLDER ?? tmpdir(), 'kubewright-size-'))
  try {
    const filled = await figuresOf<FillFigures>(out, 'objects-runner', 'fill', count, data)
    const opened = await figuresOf<OpenFigures>(out, 'objects-runner', 'open', count, data)
    return { line: objectsLine(Number(count), filled, opened), opened }
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

async function report(): Promise<string[]> {
  const out = mkdtempSync(join(root, 'node_modules', '.bench-size-'))
  const pods: string[] = []
  const crds: string[] = []
  const objects: string[] = []
  const namespaces: string[] = []
  const targets: string[] = []
  /** Of the largest cluster, which is the last one. */
  let ofPods: string[] = []
  try {
    await bundlePrograms(folder, programs, out)
    for (const size of (process.env.SIZE ?? defaultSizes).split(',')) {
      const [kind = '', count = '', more = ''] = size.split(':')
      process.stderr.write(`${size}\n`)
      if (kind === 'pods') {
        const figures = await figuresOf<PodFigures>(out, 'pods-runner', count, more)
        pods.push(podsLine(figures))
        ofPods = targetLines(figures)
      } else if (kind === 'crds') crds.push(crdsLine(await figuresOf(out, 'crds-runner', count)))
      else if (kind === 'objects') {
        const { line, opened } = await objectFigures(out, count)
        objects.push(line)
        if (count !== '1000000') continue
        const seconds = (opened.ready.wallMillis / 1000).toFixed(1)
        targets.push(`| 1,000,000 ConfigMaps, durable: restart to ready | ${seconds} s |`)
      } else if (kind === 'namespace') {
        const figures = await figuresOf<NamespaceFigures>(out, 'namespace-runner', count)
        namespaces.push(namespaceLine(figures))
        if (figures.objects !== 10_000) continue
        const seconds = (figures.removed.wallMillis / 1000).toFixed(1)
        targets.push(`| deletion of a namespace with 10,000 objects | ${seconds} s |`)
      } else throw new Error(`unknown size "${size}": use pods:NODES:PODS, crds:N, objects:N or namespace:N`)
    }
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
  return [
    ...table(pods, [
      ...[
        'cluster',
        'CPU per node until its Lease',
        'CPU per pod until available',
        'elapsed',
        'memory in use',
        'peak memory',
      ],
      ...['list of all pods, CPU', 'watch start with all pods, CPU', 'share of a core when idle'],
    ]),
    ...table(crds, [
      ...[
        'CRDs',
        'CPU per CRD until served',
        'memory in use',
        'peak memory',
        'aggregated discovery, CPU',
        'OpenAPI v2, CPU',
      ],
      ...['OpenAPI v3 of one group, CPU', 'one more CRD, and OpenAPI v2 after it, CPU'],
    ]),
    ...table(objects, [
      ...[
        'ConfigMaps, durable',
        'CPU per create',
        'CPU of a restart until ready',
        'of that, reading the store',
        'memory in use',
      ],
      ...['peak memory', 'page of 500, CPU', 'list of 10,000 of one namespace, CPU', 'list of all, CPU'],
    ]),
    ...table(namespaces, [
      'objects in a namespace',
      'CPU per create',
      'deletion of the namespace, CPU',
      'per object',
      'objects left',
    ]),
    ...table([...ofPods, ...targets], ['figure', 'result']),
  ]
}

function table(lines: readonly string[], columns: readonly string[]): string[] {
  if (lines.length === 0) return []
  return [`| ${columns.join(' | ')} |`, `|${'---|'.repeat(columns.length)}`, ...lines, '']
}

/** The cost of a control plane by its size. */
export const suite: Suite = {
  title: 'Size',
  about:
    'Complete processes with all controllers, in memory except for the durable rows. Pods belong to Deployments of 30 replicas, created by 16 writers. A node renews its Lease every 10 seconds, with more than 1,500 nodes less often. Lists and watches are read as bytes in the same process. Memory in use is the heap after a collection, with buffers.',
  report,
}
