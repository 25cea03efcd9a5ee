import type { AnyKind, ApiHandler, Infer } from '@kubewright/api'
import { drainMicrotasks, memoryLogger, seededRandom, toMillis, VirtualClock } from '@kubewright/base'
import { type ApiClient, bearerToken, createClient, inProcessTransport, type Key } from '@kubewright/client'
import { type SimulateNodesOptions, simulateNodes } from '@kubewright/controllers'
import { Namespace, ServiceAccount } from '@kubewright/k8s'
import {
  createCluster,
  createControllerRunner,
  createEventRecorder,
  type KeyController,
  noTracer,
} from '@kubewright/runtime'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'

/** The components that run next to the server. */
export interface PlaneOptions {
  readonly controllers: readonly KeyController[]
  /** @default none, so pods are never scheduled */
  readonly nodes?: SimulateNodesOptions['nodes']
  readonly plan?: SimulateNodesOptions['plan']
  readonly processes?: SimulateNodesOptions['processes']
  /** @default none */
  readonly heartbeat?: SimulateNodesOptions['heartbeat']
  /** @default an empty store in memory */
  readonly store?: MemoryStore
  /** Wraps the server's handler for the controllers. */
  readonly between?: (handler: ApiHandler) => ApiHandler
}

/** A server and controllers that run in virtual time. */
export interface Plane extends AsyncDisposable {
  readonly api: ApiClient
  readonly clock: VirtualClock
  /** Waits until nothing more happens without time passing. */
  settle(): Promise<void>
  /** Advances time and waits until nothing more happens. */
  advance(duration: Parameters<VirtualClock['advance']>[0]): Promise<void>
  /** Resolves with the object when `test` accepts it. Advances time from timer to timer meanwhile. */
  until<K extends AnyKind>(kind: K, key: Key, test: (object: Infer<K>) => boolean): Promise<Infer<K>>
  /** Stops all controllers and nodes at any point of their work and starts new ones without state. */
  restart(): Promise<void>
  /** The errors of reconciles, for messages. */
  errors(): readonly string[]
}

const maxTimers = 500

export async function startPlane(options: PlaneOptions): Promise<Plane> {
  const clock = new VirtualClock({ start: Date.UTC(2025, 0, 1) })
  const random = seededRandom('plane')
  const log = memoryLogger()
  const store = options.store ?? new MemoryStore()
  const { nodes: count, plan, processes, heartbeat } = options
  const simulation = { ...(plan ? { plan } : {}), ...(processes ? { processes } : {}), heartbeat }
  const makeNodes = () => (count === undefined ? undefined : simulateNodes({ nodes: count, clock, ...simulation }))
  let nodes = makeNodes()
  const server = await assembleServer({
    store,
    clock,
    random: random.fork('server'),
    nodes: { logs: (request) => nodes?.logs(request) },
    access: { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] },
  })
  const transport = inProcessTransport({ handler: server.handler })
  const api = createClient({ transport, credentials: bearerToken('admin'), clock })
  const theirs = inProcessTransport({ handler: options.between?.(server.handler) ?? server.handler })
  const client = createClient({ transport: theirs, credentials: bearerToken('admin'), clock })
  await api.create(Namespace({ metadata: { name: 'test' } }))
  await api.create(ServiceAccount({ metadata: { name: 'default', namespace: 'test' } }))

  /** The controllers and nodes. */
  const startControllers = () => {
    const cluster = createCluster({ api: client, clock, random: random.fork('cluster'), log })
    const events = createEventRecorder({ client: api, clock, log, component: 'test', instance: 'test' })
    const metrics = { add() {}, set() {}, observe() {} }
    const parts = { cluster, clock, random, log, metrics, tracer: noTracer, events, operator: 'test' }
    const values = [...options.controllers, ...(nodes?.controllers ?? [])]
    const runners = values.map((one) => createControllerRunner(one, parts))
    const stop = new AbortController()
    cluster.cache.start()
    const work = runners.map((runner) => runner.work({ drain: stop.signal, abort: stop.signal }))
    return {
      runners,
      async [Symbol.asyncDispose]() {
        stop.abort(new Error('test ended'))
        await Promise.all(work)
        for (const runner of runners) await runner[Symbol.asyncDispose]()
        await events[Symbol.asyncDispose]()
        await cluster[Symbol.asyncDispose]()
      },
    }
  }
  let running = startControllers()

  const isIdle = (): boolean =>
    running.runners.every((runner) => {
      const { processing, ready } = runner.queue()
      return processing.length === 0 && ready.length === 0
    })
  const settle = async (): Promise<void> => {
    for (let quiet = 0, before = -1; quiet < 20; ) {
      for (let turn = 0; turn < 5; turn++) await drainMicrotasks()
      const revision = Number(await store.revision())
      quiet = isIdle() && revision === before ? quiet + 1 : 0
      before = revision
    }
  }
  const errors = (): readonly string[] =>
    running.runners.flatMap((runner) =>
      runner
        .recent()
        .flatMap(({ controller, error, key, result }) =>
          result === 'error' || result === 'terminal_error' ? [`${controller} ${key}: ${String(error)}`] : [],
        ),
    )
  await settle()
  return {
    api,
    clock,
    settle,
    async advance(duration) {
      const end = clock.now() + toMillis(duration)
      await settle()
      for (;;) {
        const next = clock.pending[0]
        if (next === undefined || next.due > end) break
        await clock.advanceToNext()
        await settle()
      }
      await clock.advance(Math.max(0, end - clock.now()))
      await settle()
    },
    async until(kind, key, test) {
      for (let timers = 0; timers < maxTimers; timers++) {
        await settle()
        const object = await api.find(kind, key)
        if (object !== undefined && test(object)) return object
        if (!(await clock.advanceToNext())) break
      }
      const object = await api.find(kind, key)
      const state = JSON.stringify((object as { status?: unknown } | undefined)?.status, null, 1)
      throw new Error(
        `${kind.kind} ${JSON.stringify(key)} did not reach the expected state: ${state}\n${errors().join('\n')}`,
      )
    },
    errors,
    async restart() {
      await running[Symbol.asyncDispose]()
      nodes = makeNodes()
      running = startControllers()
    },
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]()
      await theirs[Symbol.asyncDispose]()
      await transport[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}
