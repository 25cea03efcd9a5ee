// A controller on Kubewright's cache, queue and workers, with metrics and log level info. Its reconciler does nothing,
// or reads its object.
import { createLogger, systemClock, systemRandom } from '@kubewright/base'
import { createClient, dynamicKind, httpTransport } from '@kubewright/client'
import {
  channelSource,
  controllerMetrics,
  createCluster,
  createControllerRunner,
  createMetricRegistry,
  defineKeyController,
  informerMetrics,
  kindSource,
  noTracer,
  workQueueMetrics,
} from '@kubewright/runtime'
import { peakMiB } from '../peak-memory.ts'
import { cpuMillis, taskOfArguments } from './consumer-report.ts'

const task = taskOfArguments()
const reads = task.variant === 'gets'
const kind = dynamicKind({ group: 'example.com', version: 'v1', kind: 'WebSite', plural: 'websites' })
const api = createClient({ transport: httpTransport({ server: task.server, compression: false }), namespace: '' })
const log = createLogger({ enabled: (level) => level <= 0, write: () => undefined })
const metrics = createMetricRegistry([...controllerMetrics, ...workQueueMetrics, ...informerMetrics])
const cluster = createCluster({ api, clock: systemClock, random: systemRandom, log, metrics })
const store = cluster.cache.use(kind).store
const storm = channelSource()

let count = 0
let wanted = task.objects
let finish = (): void => undefined
const controller = defineKeyController({
  name: 'sites',
  sources: [kindSource(kind), storm],
  hotLoop: false,
  reconcile: (key) => {
    if (reads && store.get(key) === undefined) throw new Error(`${key} is missing`)
    if (++count === wanted) finish()
  },
})
const parts = { cluster, clock: systemClock, random: systemRandom, log, metrics, tracer: noTracer, operator: 'bench' }
const runner = createControllerRunner(controller, { ...parts, events: { record: () => undefined } })
cluster.cache.start()
await runner.warmUp()

const before = cpuMillis()
const began = performance.now()
const forever = new AbortController().signal
const all = new Promise<void>((resolve) => (finish = resolve))
void runner.work({ drain: forever, abort: forever })
await all
const perReconcile = ((cpuMillis() - before) * 1000) / task.objects
const perSecond = (task.objects / (performance.now() - began)) * 1000

// 200,000 adds of 1,000 keys.
count = 0
wanted = Number.POSITIVE_INFINITY
const names = store.keys().slice(0, 1000)
for (let i = 0; i < 200_000; i++) storm.push(names[i % names.length]!)
while (runner.queue().ready.length > 0) await new Promise((resolve) => setImmediate(resolve))

const figures = { perReconcile, perSecond, storm: count, peakMiB: peakMiB() }
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit(0))
