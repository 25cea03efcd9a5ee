// Measures how the cost of a control plane grows with the number of its objects: a process per kind of work and size.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePrograms } from './bundle-programs.ts'
import type { Taken } from './controlplane/process-figures.ts'
import type { Suite } from './harness.ts'
import { curve } from './report/curve.ts'

const folder = join(import.meta.dirname, 'size')
const root = join(import.meta.dirname, '..')
const programs = ['pods-runner', 'crds-runner', 'objects-runner', 'namespace-runner'] as const

/** The sizes that a plain run measures. `SIZE` replaces them: `SIZE=pods:5000:150000,crds:10000,objects:1000000,namespace:10000`. */
const defaultSizes =
  'pods:50:1500,pods:500:15000,crds:100,crds:1000,objects:10000,objects:100000,namespace:1000,namespace:10000'

interface Loaded {
  /** The mean number of runnable processes on the machine, before and after the run. */
  readonly load: readonly [number, number]
}

interface PodFigures extends Loaded {
  readonly nodes: number
  readonly pods: number
  readonly objects: number
  readonly events: number
  readonly registered: Taken
  readonly running: Taken
  readonly idleMiB: number
  /** Absent in figures of runs that did not count shared buffers. */
  readonly fullMiB?: number
  readonly list: Taken
  readonly watch: Taken
  readonly idleShare: number
  readonly peakMiB: number
  /** Set when the run was stopped by hand: the pods that were to be created. `pods` is the number at the last line of progress. */
  readonly wanted?: number
  /** While the cluster grew: the number of pods, the CPU in seconds and the memory in MiB. */
  readonly growth?: readonly (readonly [pods: number, cpuSeconds: number, mib: number])[]
}

interface CrdFigures extends Loaded {
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

interface OpenFigures extends Loaded {
  readonly opened: Taken
  readonly ready: Taken
  readonly fullMiB: number
  readonly page: Taken
  readonly namespace: Taken
  readonly list: Taken
  readonly peakMiB: number
}

interface NamespaceFigures extends Loaded {
  readonly objects: number
  readonly created: Taken
  readonly removed: Taken
  readonly left: number
}

// SIZE_NODE_FLAGS adds flags of Node, such as --cpu-prof.
const nodeFlags = ['--expose-gc', '--max-old-space-size=8192', ...(process.env.SIZE_NODE_FLAGS?.split(' ') ?? [])]

async function figuresOf<T>(out: string, program: (typeof programs)[number], ...args: string[]): Promise<T> {
  const before = loadavg()[0]!
  const figures = await runFor(out, program, args)
  return { ...(JSON.parse(figures) as T), load: [before, loadavg()[0]!] }
}

/**
 * The figures of a size. `SIZE_FIGURES` names a folder that keeps them: a size with figures there is not measured again, so that a run of
 * an hour can be continued, and small sizes can be measured at another time than large ones.
 */
async function kept<T>(size: string, measure: () => Promise<T>): Promise<T> {
  const folder = process.env.SIZE_FIGURES
  if (folder === undefined) return measure()
  const file = join(folder, `${size.replaceAll(':', '-')}.json`)
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as T
  const figures = await measure()
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, JSON.stringify(figures))
  return figures
}

async function runFor(out: string, program: (typeof programs)[number], args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [...nodeFlags, join(out, `${program}.mjs`), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}`)
  return Buffer.concat(chunks).toString()
}

const number = (value: number): string => value.toLocaleString('en')
const time = (millis: number): string => (millis < 2000 ? `${millis.toFixed(0)} ms` : `${(millis / 1000).toFixed(1)} s`)
const loads = ({ load }: Loaded): string => `${load[0].toFixed(0)} to ${load[1].toFixed(0)}`
const mib = (value: number): string => `${number(Math.round(value))} MiB`

function podsLine(one: PodFigures): string {
  if (one.wanted !== undefined) {
    const name = `${number(one.nodes)} nodes, stopped at ${number(one.pods)} of ${number(one.wanted)} pods`
    const cpu = `${(one.running.cpuMillis / one.pods).toFixed(2)} ms`
    const cells = [name, `${(one.registered.cpuMillis / one.nodes).toFixed(2)} ms`, cpu, time(one.running.wallMillis)]
    return `| ${[...cells, '–', mib(one.peakMiB), '–', '–', '–', loads(one)].join(' | ')} |`
  }
  const cells = [
    `${number(one.nodes)} nodes, ${number(one.pods)} pods`,
    `${(one.registered.cpuMillis / one.nodes).toFixed(2)} ms`,
    `${(one.running.cpuMillis / one.pods).toFixed(2)} ms`,
    time(one.running.wallMillis),
    one.fullMiB === undefined
      ? '–'
      : `${mib(one.fullMiB)} (${(((one.fullMiB - one.idleMiB) * 1024) / one.pods).toFixed(1)} KiB per pod)`,
    mib(one.peakMiB),
    time(one.list.cpuMillis),
    time(one.watch.cpuMillis),
    `${(one.idleShare * 100).toFixed(1)} %`,
    loads(one),
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
    loads(one),
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
    loads(opened),
  ]
  return `| ${cells.join(' | ')} |`
}

function namespaceLine(figures: NamespaceFigures): string {
  const { objects, created, removed, left } = figures
  const create = `${((created.cpuMillis * 1000) / objects).toFixed(0)} µs`
  const each = `${((removed.cpuMillis * 1000) / objects).toFixed(0)} µs`
  return `| ${number(objects)} | ${create} | ${time(removed.cpuMillis)} (${time(removed.wallMillis)} elapsed) | ${each} | ${left} | ${loads(figures)} |`
}

/** The figures that the targets name. A run with smaller sizes has only some of them. */
function targetLines({ nodes, pods, running, peakMiB, list, watch, idleShare }: PodFigures): string[] {
  const perSecond = Math.round(pods / (running.wallMillis / 1000))
  const lines = [`| pods created until Running, per second | ${perSecond}/s, with ${number(pods)} pods |`]
  if (nodes === 5000) {
    lines.push(`| heartbeats of 5,000 nodes, share of one core | ${(idleShare * 100).toFixed(1)} %, all idle work |`)
  }
  if (nodes !== 5000 || pods !== 150_000) return lines
  lines.push(`| 5,000 nodes and 150,000 pods, memory | ${mib(peakMiB)} |`)
  lines.push(`| list of 150,000 pods | ${(list.wallMillis / 1000).toFixed(1)} s |`)
  lines.push(`| watch start with 150,000 pods | ${(watch.wallMillis / 1000).toFixed(1)} s |`)
  return lines
}

interface ObjectFigures {
  readonly count: number
  readonly filled: FillFigures
  readonly opened: OpenFigures
}

async function objectFigures(out: string, count: string): Promise<ObjectFigures> {
  const data = mkdtempSync(join(process.env.SIZE_FOLDER ?? tmpdir(), 'kubewright-size-'))
  try {
    const filled = await figuresOf<FillFigures>(out, 'objects-runner', 'fill', count, data)
    const opened = await figuresOf<OpenFigures>(out, 'objects-runner', 'open', count, data)
    return { count: Number(count), filled, opened }
  } finally {
    rmSync(data, { recursive: true, force: true })
  }
}

/** The figures of all sizes that were measured. */
interface Sizes {
  readonly pods: PodFigures[]
  readonly crds: CrdFigures[]
  readonly objects: ObjectFigures[]
  readonly namespaces: NamespaceFigures[]
}

async function measureAll(): Promise<Sizes> {
  const out = mkdtempSync(join(root, 'node_modules', '.bench-size-'))
  const sizes: Sizes = { pods: [], crds: [], objects: [], namespaces: [] }
  try {
    await bundlePrograms(folder, programs, out)
    for (const size of (process.env.SIZE ?? defaultSizes).split(',')) {
      const [kind = '', count = '', more = ''] = size.split(':')
      process.stderr.write(`${size}\n`)
      if (kind === 'pods') sizes.pods.push(await kept(size, () => figuresOf(out, 'pods-runner', count, more)))
      else if (kind === 'crds') sizes.crds.push(await kept(size, () => figuresOf(out, 'crds-runner', count)))
      else if (kind === 'objects') sizes.objects.push(await kept(size, () => objectFigures(out, count)))
      else if (kind === 'namespace')
        sizes.namespaces.push(await kept(size, () => figuresOf(out, 'namespace-runner', count)))
      else throw new Error(`unknown size "${size}": use pods:NODES:PODS, crds:N, objects:N or namespace:N`)
    }
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
  return sizes
}

function targetsOf({ pods, crds, objects, namespaces }: Sizes): string[] {
  const largest = pods.findLast(({ wanted }) => wanted === undefined)
  const lines = largest === undefined ? [] : targetLines(largest)
  const stopped = pods.find(({ wanted }) => wanted === 150_000)
  if (stopped !== undefined)
    lines.push(
      `| 5,000 nodes and 150,000 pods, memory | ${mib(stopped.peakMiB)} when it was stopped, with ${number(stopped.pods)} pods |`,
    )
  const many = crds.find(({ definitions }) => definitions === 10_000)
  if (many !== undefined)
    lines.push(`| CRDs that are served by one process | ${number(many.definitions)}, ${mib(many.fullMiB)} in use |`)
  const million = objects.find(({ count }) => count === 1_000_000)
  if (million !== undefined)
    lines.push(
      `| 1,000,000 ConfigMaps, durable: restart to ready | ${(million.opened.ready.wallMillis / 1000).toFixed(1)} s, CPU ${time(million.opened.ready.cpuMillis)} |`,
    )
  const crowded = namespaces.find(({ objects: count }) => count === 10_000)
  if (crowded !== undefined)
    lines.push(
      `| deletion of a namespace with 10,000 objects | ${(crowded.removed.wallMillis / 1000).toFixed(1)} s, CPU ${time(crowded.removed.cpuMillis)} |`,
    )
  return lines
}

const bySize = (points: readonly (readonly [number, number])[]): (readonly [number, number])[] =>
  points.toSorted(([a], [b]) => a - b)

/** About twenty of the points, the last one among them. */
function thinned<T>(points: readonly T[]): T[] {
  const step = Math.ceil(points.length / 20)
  return points.filter((_, index) => (points.length - 1 - index) % step === 0)
}

/** The curves of the kinds of work that were measured at two sizes or more. */
function curvesOf({ pods, crds, objects }: Sizes): string[] {
  const lines: string[] = []
  const largest = pods.toSorted((x, y) => y.pods - x.pods)[0]
  const growth = thinned(largest?.growth ?? [])
  if (growth.length > 1) {
    const about = `${number(largest!.nodes)} nodes`
    lines.push(
      curve({
        ...{ name: 'size-pods-cpu', title: `CPU while a cluster of ${about} grows`, x: 'pods', y: 'CPU, s' },
        series: [{ name: 'pods', points: growth.map(([count, cpu]) => [count, cpu]) }],
      }),
      curve({
        ...{ name: 'size-pods-memory', title: `Memory while a cluster of ${about} grows`, x: 'pods', y: 'memory, MiB' },
        ...{ log: false, series: [{ name: 'resident', points: growth.map(([count, , mib]) => [count, mib]) }] },
      }),
    )
  }
  if (crds.length > 1) {
    lines.push(
      curve({
        ...{ name: 'size-crds', title: 'Custom resource definitions', x: 'CRDs', y: 'CPU, s' },
        series: [
          {
            name: 'until served',
            points: bySize(crds.map((one) => [one.definitions, (one.created.cpuMillis + one.served.cpuMillis) / 1000])),
          },
          {
            name: 'OpenAPI v2',
            points: bySize(crds.map((one) => [one.definitions, one.openapi2.cpuMillis / 1000])),
          },
        ],
      }),
    )
  }
  if (objects.length > 1) {
    lines.push(
      curve({
        ...{ name: 'size-objects', title: 'Restart with ConfigMaps in a folder', x: 'ConfigMaps', y: 'CPU, s' },
        series: [
          {
            name: 'until ready',
            points: bySize(objects.map(({ count, opened }) => [count, opened.ready.cpuMillis / 1000])),
          },
          {
            name: 'reading the store',
            points: bySize(objects.map(({ count, opened }) => [count, opened.opened.cpuMillis / 1000])),
          },
        ],
      }),
    )
  }
  return lines.flatMap((line) => [line, ''])
}

async function report(): Promise<string[]> {
  const sizes = await measureAll()
  return [
    ...table(sizes.pods.map(podsLine), [
      ...[
        'cluster',
        'CPU per node until its Lease',
        'CPU per pod until available',
        'elapsed',
        'memory in use',
        'peak memory',
      ],
      ...['list of all pods, CPU', 'watch start with all pods, CPU', 'share of a core when idle', 'load'],
    ]),
    ...table(sizes.crds.map(crdsLine), [
      ...[
        'CRDs',
        'CPU per CRD until served',
        'memory in use',
        'peak memory',
        'aggregated discovery, CPU',
        'OpenAPI v2, CPU',
      ],
      ...['OpenAPI v3 of one group, CPU', 'one more CRD, and OpenAPI v2 after it, CPU', 'load'],
    ]),
    ...table(
      sizes.objects.map(({ count, filled, opened }) => objectsLine(count, filled, opened)),
      [
        ...[
          'ConfigMaps, durable',
          'CPU per create',
          'CPU of a restart until ready',
          'of that, reading the store',
          'memory in use',
        ],
        ...[
          'peak memory',
          'page of 500, CPU',
          'list of 10,000 of one namespace, CPU',
          'first list of all, CPU',
          'load',
        ],
      ],
    ),
    ...table(sizes.namespaces.map(namespaceLine), [
      ...['objects in a namespace', 'CPU per create', 'deletion of the namespace, CPU', 'per object', 'objects left'],
      'load',
    ]),
    ...curvesOf(sizes),
    ...table(targetsOf(sizes), ['figure', 'result']),
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
    'Complete processes with all controllers, in memory except for the durable rows. Pods belong to Deployments of 30 replicas, created by 16 writers. A node renews its Lease every 10 seconds, with more than 1,500 nodes less often. Lists and watches are read as bytes in the same process. Memory in use is the heap after a collection, with buffers. The load is the number of runnable processes on the machine (two cores), before and after each run: elapsed times grow with it, CPU times by up to a half. After a restart, objects are checked when they are first read, so the first list of all checks all of them. Published, not measured here: KWOK’s README (https://github.com/kubernetes-sigs/kwok) states 1,000 nodes and 100,000 pods maintained, and 20 nodes or pods created per second; it runs beside a kube-apiserver and an etcd.',
  report,
}
