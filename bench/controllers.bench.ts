import type { KubeObject } from '@kubewright/api'
import { createLogger, systemClock, systemRandom } from '@kubewright/base'
import { ConfigMap } from '@kubewright/k8s'
import {
  type CacheLease,
  type Change,
  type Cluster,
  channelSource,
  controllerMetrics,
  createControllerRunner,
  createMetricRegistry,
  defineKeyController,
  type EventHandler,
  type KeyReconciler,
  kindSource,
  noTracer,
  type Source,
  workQueueMetrics,
} from '@kubewright/runtime'
import type { Suite } from './harness.ts'

const keys = Array.from({ length: 1000 }, (_, i) => `default/object-${i}`)
// As in production: lines of level info reach a sink, everything else is dropped.
const log = createLogger({ enabled: (level) => level <= 0, write: () => undefined })

// A cache without an informer, which emits the events of the benchmark. The measurement starts with these events.
const handlers = new Set<EventHandler<KubeObject>>()
const lease = {
  store: { list: () => [] },
  hasSynced: true,
  health: { state: 'watching', since: 0, failures: 0 },
  addHandler: (handler: EventHandler<KubeObject>) => {
    handlers.add(handler)
    return { synced: Promise.resolve(), hasSynced: true, pending: 0, lag: 0, remove: () => handlers.delete(handler) }
  },
  release: async () => undefined,
} as unknown as CacheLease
const cluster = {
  name: '',
  client: {},
  cache: { use: () => lease, peek: () => undefined },
  namespaces: [],
} as unknown as Cluster

/** Starts a controller for the rest of the process. Returns a function that has all keys reconciled once. */
async function controllerOf(name: string, source: Source, addAll: () => void, answer: KeyReconciler) {
  let left = 0
  let done: () => void = () => undefined
  const reconcile: KeyReconciler = (key, context) => {
    if (--left === 0) done()
    return answer(key, context)
  }
  const controller = defineKeyController({ name, sources: [source], reconcile, hotLoop: { times: 1e9 } })
  const metrics = createMetricRegistry([...controllerMetrics, ...workQueueMetrics])
  const events = { record: () => undefined }
  const parts = {
    cluster,
    clock: systemClock,
    random: systemRandom,
    log,
    metrics,
    tracer: noTracer,
    events,
    operator: 'bench',
  }
  const runner = createControllerRunner(controller, parts)
  const forever = new AbortController().signal
  void runner.work({ drain: forever, abort: forever })
  await runner.warmUp()
  return () =>
    new Promise<void>((resolve) => {
      left = keys.length
      done = resolve
      addAll()
    })
}

const versions = [1, 2].map((version) =>
  keys.map((key) => {
    const metadata = {
      name: key.slice('default/'.length),
      namespace: 'default',
      uid: key,
      resourceVersion: `${version}`,
    }
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { version: `${version}` } } as unknown as KubeObject
  }),
)

const [olds = [], news = []] = versions
const changes = keys.map((key, i) => {
  const sides = { key, type: 'update', sync: false, initial: false, before: olds[i], after: news[i] }
  return sides as unknown as Change<KubeObject>
})

function updateAll(): void {
  for (const handler of handlers) for (const change of changes) void handler.onChange?.(change)
}

/** The cost of the machinery around a reconciler that does nothing. */
export const suite: Suite = {
  title: 'Controllers',
  about:
    'A thousand keys, one worker, metrics in a registry, log level info. Includes the queue, back-off, the activity record, and the detection of hangs and hot loops. There is no peer, because the reconciler does nothing.',
  rows: async () => {
    const channel = channelSource()
    const pushAll = (): void => {
      for (const key of keys) channel.push(key)
    }
    const row = { async: true, operations: keys.length, aim: 5 }
    return [
      {
        ...row,
        title: 'reconcile a pushed key, synchronous result',
        ours: await controllerOf('sync', channel, pushAll, () => undefined),
      },
      {
        ...row,
        title: 'reconcile the key of an updated object, result by promise',
        ours: await controllerOf('async', kindSource(ConfigMap), updateAll, async () => undefined),
      },
    ]
  },
}
